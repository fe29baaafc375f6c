/// Distributes connected boxes: neighbours in adjacent columns, and columns of similar height.
struct ColumnAssignment {
  /// Should run from left to right.
  struct Link {
    let left: Int
    let right: Int
  }

  private let count: Int
  private let heights: [Double]
  private let links: [Link]
  private let linksOf: [[Int]]
  private let target: Double

  /// At most `count` columns are used; a link from a box to itself is ignored.
  init(count: Int, heights: [Double], links: [Link]) {
    self.count = count
    self.heights = heights
    self.links = links.filter { $0.left != $0.right }
    var linksOf = heights.map { _ in [Int]() }
    for (index, link) in self.links.enumerated() {
      linksOf[link.left].append(index)
      linksOf[link.right].append(index)
    }
    self.linksOf = linksOf
    target = max(heights.reduce(0, +) / Double(count) * 1.08, heights.max() ?? 1)
  }

  /// Columns count from 0, without unused ones in between.
  func columns() -> [Int] {
    var best: (columns: [Int], cost: Double)?
    for start in [byRank(), aroundHub()] {
      var columns = start
      improve(&columns)
      let cost = cost(of: columns)
      if best.map({ cost < $0.cost }) ?? true { best = (columns, cost) }
    }
    let columns = best?.columns ?? []
    let used = Set(columns).sorted()
    return columns.map { column in used.firstIndex(of: column) ?? 0 }
  }

  /// The box with the most lines; of equal ones, the first.
  private var hub: Int {
    linksOf.indices.max { linksOf[$0].count == linksOf[$1].count ? $0 > $1 : linksOf[$0].count < linksOf[$1].count }
      ?? 0
  }

  /// By breadth-first search from the hub.
  private func reached() -> [(box: Int, distance: Int, from: Int)] {
    var result = [(box: hub, distance: 0, from: hub)]
    var seen = Set([hub])
    var next = 0
    while next < result.count {
      let (box, distance, _) = result[next]
      next += 1
      for index in linksOf[box] {
        let other = links[index].left == box ? links[index].right : links[index].left
        if seen.insert(other).inserted { result.append((other, distance + 1, box)) }
      }
    }
    return result
  }

  /// By the longest path from a box without incoming lines; lines back are ignored.
  private func byRank() -> [Int] {
    let order = reached()
    var position = heights.map { _ in 0 }
    for (index, step) in order.enumerated() { position[step.box] = index }
    var rank = heights.map { _ in 0 }
    for _ in 0..<min(heights.count, 64) {
      var isStable = true
      for link in links where position[link.left] < position[link.right] && rank[link.right] <= rank[link.left] {
        rank[link.right] = rank[link.left] + 1
        isStable = false
      }
      if isStable { break }
    }
    let deepest = max(rank.max() ?? 0, 1)
    return rank.map { deepest < count ? $0 : $0 * (count - 1) / deepest }
  }

  /// The hub is in the middle, with its neighbours alternately on both sides.
  private func aroundHub() -> [Int] {
    var columns = heights.map { _ in 0 }
    var isLeft = heights.map { _ in false }
    var turn = false
    for step in reached() {
      if step.distance == 0 {
        columns[step.box] = count / 2
        continue
      }
      if step.distance == 1 {
        turn.toggle()
        isLeft[step.box] = turn
      } else {
        isLeft[step.box] = isLeft[step.from]
      }
      columns[step.box] = min(max(columns[step.from] + (isLeft[step.box] ? -1 : 1), 0), count - 1)
    }
    return columns
  }

  // MARK: Improving

  /// Moves one box at a time to its cheapest column, until no box moves or after 24 rounds.
  private func improve(_ columns: inout [Int]) {
    var sums = [Double](repeating: 0, count: count)
    for (box, column) in columns.enumerated() { sums[column] += heights[box] }
    for _ in 0..<24 {
      var moved = false
      for box in columns.indices {
        sums[columns[box]] -= heights[box]
        var best = columns[box]
        var least = cost(of: box, in: best, columns, sums) - 0.01
        for column in 0..<count where column != columns[box] {
          let cost = cost(of: box, in: column, columns, sums)
          if cost < least { (best, least) = (column, cost) }
        }
        if best != columns[box] { moved = true }
        columns[box] = best
        sums[best] += heights[box]
      }
      if !moved { return }
    }
  }

  private func cost(of box: Int, in column: Int, _ columns: [Int], _ sums: [Double]) -> Double {
    var cost = heightCost(sums[column] + heights[box])
    for index in linksOf[box] {
      let link = links[index]
      cost += link.left == box ? span(columns[link.right] - column) : span(column - columns[link.left])
    }
    return cost
  }

  private func cost(of columns: [Int]) -> Double {
    var sums = [Double](repeating: 0, count: count)
    for (box, column) in columns.enumerated() { sums[column] += heights[box] }
    return links.reduce(0) { $0 + span(columns[$1.right] - columns[$1.left]) }
      + sums.reduce(0) { $0 + heightCost($1) }
  }

  /// Negative numbers of columns go to the left.
  private func span(_ columns: Int) -> Double {
    switch columns {
    case 1: 0
    case 0: 1.5
    case 2...: Double(columns - 1) * 1.3
    default: 0.3 + Double(-columns - 1) * 1.3
    }
  }

  private func heightCost(_ height: Double) -> Double {
    let share = height / target
    return share * 0.3 + max(0, share - 1) * 12
  }
}
