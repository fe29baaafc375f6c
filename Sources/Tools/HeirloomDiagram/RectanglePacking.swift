import Foundation

struct RectanglePacking {
  private(set) var origins: [DiagramLayout.Point]
  private(set) var width = 0.0
  private(set) var height = 0.0

  /// Single boxes come after connected ones; `aspect` is the best ratio of width to height.
  static func best(
    _ sizes: [(width: Double, height: Double, isSingle: Bool)], gap: Double, aspect: Double
  ) -> RectanglePacking {
    let widest = sizes.map(\.width).max() ?? 0
    let area = sizes.reduce(0) { $0 + ($1.width + gap) * ($1.height + gap) }
    let order = sizes.indices.sorted { left, right in
      let (a, b) = (sizes[left], sizes[right])
      if a.isSingle != b.isSingle { return b.isSingle }
      return a.height == b.height ? left < right : a.height > b.height
    }
    let ideal = (area * aspect).squareRoot()
    let steps = sizes.count > 500 ? [1.0] : [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35, 1.5]
    var best: (packing: RectanglePacking, score: Double)?
    for step in steps {
      let packing = RectanglePacking(sizes, order: order, within: max(widest, ideal * step), gap: gap)
      let ratio = packing.width / max(packing.height, 1)
      // The size is that of the enclosing rectangle with the best ratio.
      let score = max(packing.width / aspect, packing.height) * (1 + 0.1 * abs(log(max(ratio, 0.01) / aspect)))
      if best.map({ score < $0.score }) ?? true { best = (packing, score) }
    }
    return best?.packing ?? RectanglePacking([], order: [], within: 0, gap: gap)
  }

  /// Puts each rectangle as high as possible, then as far left as possible.
  private init(
    _ sizes: [(width: Double, height: Double, isSingle: Bool)], order: [Int], within limit: Double, gap: Double
  ) {
    origins = sizes.map { _ in DiagramLayout.Point(x: 0, y: 0) }
    // The skyline of placed rectangles: from x on, everything below y is free.
    var edge: [(x: Double, y: Double)] = [(0, 0)]
    for index in order {
      let size = sizes[index]
      var best: (x: Double, y: Double)?
      for (start, step) in edge.enumerated() {
        guard step.x + size.width <= limit + 0.5 || step.x == 0 else { break }
        var y = 0.0
        for other in edge[start...] {
          if other.x >= step.x + size.width + gap { break }
          y = max(y, other.y)
        }
        if best.map({ y < $0.y }) ?? true { best = (step.x, y) }
      }
      let place = best ?? (0, 0)
      origins[index] = DiagramLayout.Point(x: place.x, y: place.y)
      width = max(width, place.x + size.width)
      height = max(height, place.y + size.height)
      let end = place.x + size.width + gap
      var after = 0.0
      for step in edge where step.x <= end { after = step.y }
      var next = edge.filter { $0.x < place.x }
      next.append((place.x, place.y + size.height + gap))
      if !edge.contains(where: { $0.x == end }) { next.append((end, after)) }
      next += edge.filter { $0.x >= end }
      edge = next
    }
  }
}
