/// The order of nodes in columns, sorted to reduce crossings, and the nodes' positions.
///
/// A node is a box, or the point where a line to a farther column passes.
struct ColumnOrder {
  struct Node {
    let column: Int
    let height: Double
    let isBox: Bool
  }

  /// Between two adjacent columns; offsets are measured from the top of a node.
  struct Segment {
    let left: Int
    let leftOffset: Double
    let right: Int
    let rightOffset: Double
  }

  private let nodes: [Node]
  private let segments: [Segment]
  private let segmentsOf: [[Int]]
  /// From top to bottom.
  private var columns: [[Int]]
  private var position: [Int]
  private(set) var tops: [Double]
  private(set) var crossings = 0

  private static let boxGap = 26.0
  private static let mixedGap = 14.0
  private static let passGap = 5.0

  init(nodes: [Node], segments: [Segment], columnCount: Int) {
    self.nodes = nodes
    self.segments = segments
    var segmentsOf = nodes.map { _ in [Int]() }
    for (index, segment) in segments.enumerated() {
      segmentsOf[segment.left].append(index)
      segmentsOf[segment.right].append(index)
    }
    self.segmentsOf = segmentsOf
    columns = (0..<columnCount).map { column in nodes.indices.filter { nodes[$0].column == column } }
    position = nodes.map { _ in 0 }
    tops = nodes.map { _ in 0 }
    number()
    sort()
    place()
  }

  private mutating func number() {
    for column in columns {
      for (index, node) in column.enumerated() { position[node] = index }
    }
  }

  // MARK: Order

  private mutating func sort() {
    var best = columns
    crossings = countCrossings()
    for sweep in 0..<12 where crossings > 0 {
      let isForward = sweep.isMultiple(of: 2)
      for column in isForward ? Array(columns.indices) : columns.indices.reversed() {
        sort(column, byLeft: isForward)
      }
      let found = countCrossings()
      if found < crossings { (crossings, best) = (found, columns) }
    }
    columns = best
    number()
  }

  /// By the mean position of the nodes that its lines connect to on one side.
  private mutating func sort(_ column: Int, byLeft: Bool) {
    var keys: [Int: Double] = [:]
    for node in columns[column] {
      var sum = 0.0
      var count = 0.0
      for index in segmentsOf[node] {
        let segment = segments[index]
        guard byLeft ? segment.right == node : segment.left == node else { continue }
        let (other, offset) = byLeft ? (segment.left, segment.leftOffset) : (segment.right, segment.rightOffset)
        sum += Double(position[other]) + offset / max(nodes[other].height, 1)
        count += 1
      }
      keys[node] = count > 0 ? sum / count : Double(position[node])
    }
    columns[column].sort { left, right in
      let (a, b) = (keys[left] ?? 0, keys[right] ?? 0)
      return a == b ? position[left] < position[right] : a < b
    }
    for (index, node) in columns[column].enumerated() { position[node] = index }
  }

  private func countCrossings() -> Int {
    var ends: [[(left: Double, right: Double)]] = columns.map { _ in [] }
    for segment in segments {
      let left = Double(position[segment.left]) + segment.leftOffset / max(nodes[segment.left].height, 1) * 0.9
      let right = Double(position[segment.right]) + segment.rightOffset / max(nodes[segment.right].height, 1) * 0.9
      ends[nodes[segment.left].column].append((left, right))
    }
    return ends.reduce(0) { $0 + Self.inversions($1) }
  }

  /// Pairs whose order differs on the two sides.
  private static func inversions(_ ends: [(left: Double, right: Double)]) -> Int {
    let sorted = ends.sorted { $0.left == $1.left ? $0.right < $1.right : $0.left < $1.left }.map(\.right)
    var seen: [Double] = []
    var count = 0
    for right in sorted {
      var (low, high) = (0, seen.count)
      while low < high {
        let middle = (low + high) / 2
        if seen[middle] <= right { low = middle + 1 } else { high = middle }
      }
      count += seen.count - low
      seen.insert(right, at: low)
    }
    return count
  }

  // MARK: Places

  private mutating func place() {
    for column in columns {
      var top = 0.0
      for (index, node) in column.enumerated() {
        if index > 0 { top += gap(column[index - 1], node) }
        tops[node] = top
        top += nodes[node].height
      }
    }
    for sweep in 0..<24 {
      for column in sweep.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed() {
        settle(columns[column])
      }
    }
    let least = tops.min() ?? 0
    for index in tops.indices { tops[index] = (tops[index] - least).rounded() }
    // Rounding may have moved two nodes closer by a pixel; nodes that are far enough apart stay.
    for column in columns {
      for (above, below) in zip(column, column.dropFirst()) {
        tops[below] = max(tops[below], tops[above] + nodes[above].height + gap(above, below))
      }
    }
  }

  private func gap(_ above: Int, _ below: Int) -> Double {
    switch (nodes[above].isBox, nodes[below].isBox) {
    case (true, true): Self.boxGap
    case (false, false): Self.passGap
    default: Self.mixedGap
    }
  }

  /// Moves the nodes of a column towards straight lines, keeping their order and gaps.
  ///
  /// An isotonic regression: nodes that collide move as one block, to the mean of their preferred
  /// places.
  private mutating func settle(_ column: [Int]) {
    var blocks: [(mean: Double, weight: Double, count: Int)] = []
    var offsets: [Double] = []
    var offset = 0.0
    for (index, node) in column.enumerated() {
      if index > 0 { offset += nodes[column[index - 1]].height + gap(column[index - 1], node) }
      offsets.append(offset)
      let wish = wish(of: node)
      var block = (mean: wish.top - offset, weight: wish.weight, count: 1)
      while let last = blocks.last, last.mean > block.mean {
        let weight = last.weight + block.weight
        block = ((last.mean * last.weight + block.mean * block.weight) / weight, weight, last.count + block.count)
        blocks.removeLast()
      }
      blocks.append(block)
    }
    var index = 0
    for block in blocks {
      for _ in 0..<block.count {
        tops[column[index]] = block.mean + offsets[index]
        index += 1
      }
    }
  }

  private func wish(of node: Int) -> (top: Double, weight: Double) {
    var sum = 0.0
    var weight = 0.0
    for index in segmentsOf[node] {
      let segment = segments[index]
      let isLeft = segment.left == node
      let (other, own, theirs) =
        isLeft
        ? (segment.right, segment.leftOffset, segment.rightOffset)
        : (segment.left, segment.rightOffset, segment.leftOffset)
      let share = nodes[node].isBox ? (nodes[other].isBox ? 1.0 : 0.5) : (nodes[other].isBox ? 1.0 : 6.0)
      sum += (tops[other] + theirs - own) * share
      weight += share
    }
    return weight > 0 ? (sum / weight, weight) : (tops[node], 0.01)
  }
}
