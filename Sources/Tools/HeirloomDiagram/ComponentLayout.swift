import Foundation

/// The layout of connected boxes in columns, with the lines between the columns.
struct ComponentLayout {
  typealias Frame = DiagramLayout.Frame
  typealias Point = DiagramLayout.Point
  typealias Route = DiagramLayout.Route

  /// Indices in the diagram.
  let boxes: [Int]
  let edges: [Int]
  /// Relative to the component's upper left corner.
  private(set) var frames: [Frame] = []
  private(set) var routes: [Route] = []
  /// True for each edge whose route runs from its end to its start.
  private(set) var isReversed: [Bool] = []
  private(set) var width = 0.0
  private(set) var height = 0.0
  /// Lower is better.
  private var score = 0.0

  private static let columnGap = 70.0
  private static let passHeight = 8.0
  private static let aspect = 1.5

  /// Tries several numbers of columns; `shapes` has the sizes of all boxes of the diagram.
  static func best(
    boxes: [Int], edges: [Int], diagram: ModelDiagram, shapes: [DiagramBoxShape]
  ) -> ComponentLayout {
    let local = Dictionary(uniqueKeysWithValues: boxes.enumerated().map { ($1, $0) })
    let lines = edges.compactMap { index -> Line? in
      let edge = diagram.edges[index]
      guard let start = local[edge.start.box], let end = local[edge.end.box] else { return nil }
      return Line(
        start: start, startOffset: shapes[edge.start.box].offset(of: edge.start, kind: edge.kind), end: end,
        endOffset: shapes[edge.end.box].offset(of: edge.end, kind: edge.kind), isToRight: edge.leadsToRight)
    }
    let own = boxes.map { shapes[$0] }
    let total = own.reduce(0) { $0 + $1.height + 30 }
    let mean = own.reduce(0) { $0 + $1.width + Self.columnGap + 30 } / Double(max(own.count, 1))
    let ideal = Int(Int32((Self.aspect * total / mean).squareRoot().rounded()))
    let most = max(1, min(boxes.count, 40))
    let steps = boxes.count > 300 ? [0] : [-1, 0, 1, 2]
    let counts = boxes.count == 1 ? [1] : Set(steps.map { min(max(ideal + $0, 2), most) }).sorted()
    var best: ComponentLayout?
    for count in counts {
      let layout = ComponentLayout(boxes: boxes, edges: edges, shapes: own, lines: lines, count: count)
      if best.map({ layout.score < $0.score }) ?? true { best = layout }
    }
    return best ?? ComponentLayout(boxes: boxes, edges: edges, shapes: own, lines: lines, count: 1)
  }

  /// Boxes are indices in the component.
  private struct Line {
    let start: Int
    let startOffset: Double
    let end: Int
    let endOffset: Double
    let isToRight: Bool

    func leftToRight(in columns: [Int]) -> Line {
      columns[start] < columns[end]
        ? self : Line(start: end, startOffset: endOffset, end: start, endOffset: startOffset, isToRight: !isToRight)
    }
  }

  private init(boxes: [Int], edges: [Int], shapes: [DiagramBoxShape], lines: [Line], count: Int) {
    self.boxes = boxes
    self.edges = edges
    let flow = Flow(lines, shapes: shapes, count: count)
    let order = ColumnOrder(nodes: flow.nodes, segments: flow.segments, columnCount: flow.columnCount)
    var widths = [Double](repeating: 0, count: flow.columnCount)
    for (box, column) in flow.columns.enumerated() { widths[column] = max(widths[column], shapes[box].width) }
    var lefts: [Double] = []
    for column in 0..<flow.columnCount {
      lefts.append(width)
      width += widths[column]
      if column < flow.columnCount - 1 || flow.loops[column] > 0 {
        width += Self.columnGap + min(90, Double(flow.load[column]) * 4)
      }
    }
    frames = shapes.indices.map { box in
      let column = flow.columns[box]
      return Frame(x: lefts[column], y: order.tops[box], width: widths[column], height: shapes[box].height)
    }
    height = frames.map(\.bottom).max() ?? 0
    isReversed = lines.map { flow.columns[$0.start] > flow.columns[$0.end] }
    for (line, pass) in zip(lines, flow.passes) {
      let passes = pass.map { node in
        let column = flow.nodes[node].column
        return (y: order.tops[node] + Self.passHeight / 2, left: lefts[column], width: widths[column])
      }
      height = passes.reduce(height) { max($0, $1.y + Self.passHeight / 2) }
      routes.append(route(of: line, columns: flow.columns, through: passes))
    }
    let length = flow.segments.reduce(0.0) { sum, segment in
      sum + abs(order.tops[segment.left] + segment.leftOffset - order.tops[segment.right] - segment.rightOffset) + 80
    }
    let lineCount = Double(max(lines.count, 1))
    score =
      max(width / Self.aspect, height) + 0.5 * length / lineCount + 20 * Double(order.crossings) / lineCount
  }

  /// The boxes in their columns, and the points where lines pass columns between their ends.
  private struct Flow {
    let columns: [Int]
    let columnCount: Int
    private(set) var nodes: [ColumnOrder.Node]
    private(set) var segments: [ColumnOrder.Segment] = []
    /// The nodes that each line passes.
    private(set) var passes: [[Int]] = []
    /// Lines between each column and the next.
    private(set) var load: [Int]
    /// Lines in each column that return to the same column.
    private(set) var loops: [Int]

    init(_ lines: [Line], shapes: [DiagramBoxShape], count: Int) {
      let links = lines.map { line in
        ColumnAssignment.Link(
          left: line.isToRight ? line.start : line.end, right: line.isToRight ? line.end : line.start)
      }
      let columns = ColumnAssignment(count: count, heights: shapes.map { $0.height + 26 }, links: links).columns()
      self.columns = columns
      columnCount = (columns.max() ?? 0) + 1
      nodes = shapes.indices.map { ColumnOrder.Node(column: columns[$0], height: shapes[$0].height, isBox: true) }
      load = [Int](repeating: 0, count: columnCount)
      loops = load
      for line in lines { passes.append(add(line.leftToRight(in: columns))) }
    }

    /// Returns the nodes that the line passes.
    private mutating func add(_ line: Line) -> [Int] {
      guard columns[line.start] != columns[line.end] else {
        loops[columns[line.start]] += 1
        return []
      }
      var pass: [Int] = []
      var previous = (node: line.start, offset: line.startOffset)
      for column in (columns[line.start] + 1)..<columns[line.end] {
        nodes.append(ColumnOrder.Node(column: column, height: passHeight, isBox: false))
        let node = nodes.count - 1
        pass.append(node)
        segments.append(
          .init(left: previous.node, leftOffset: previous.offset, right: node, rightOffset: passHeight / 2))
        load[column - 1] += 1
        previous = (node, passHeight / 2)
      }
      segments.append(
        .init(left: previous.node, leftOffset: previous.offset, right: line.end, rightOffset: line.endOffset))
      load[columns[line.end] - 1] += 1
      return pass
    }
  }

  /// From the left end to the right one.
  private func route(
    of line: Line, columns: [Int], through passes: [(y: Double, left: Double, width: Double)]
  ) -> Route {
    let isLoop = columns[line.start] == columns[line.end]
    let line = isLoop ? line : line.leftToRight(in: columns)
    let (first, last) = (frames[line.start], frames[line.end])
    let start = Point(x: first.right, y: first.y + line.startOffset)
    let end = Point(x: isLoop ? last.right : last.x, y: last.y + line.endOffset)
    if isLoop { return Self.loop(from: start, to: end) }
    var route = Route(start: start, pieces: [])
    for pass in passes {
      route.pieces.append(Self.curve(from: route.end, to: Point(x: pass.left, y: pass.y)))
      route.pieces.append(.line(to: Point(x: pass.left + pass.width, y: pass.y)))
    }
    route.pieces.append(Self.curve(from: route.end, to: end))
    return route
  }

  private static func curve(from start: Point, to end: Point) -> DiagramLayout.Piece {
    let middle = (start.x + (end.x - start.x) / 2).rounded()
    return .curve(Point(x: middle, y: start.y), Point(x: middle, y: end.y), to: end)
  }

  /// Between boxes of one column, or from a box to itself, on the column's right.
  private static func loop(from start: Point, to end: Point) -> Route {
    let reach = start.x + min(80, 46 + abs(end.y - start.y) * 0.06).rounded()
    return Route(
      start: start, pieces: [.curve(Point(x: reach, y: start.y), Point(x: reach, y: end.y), to: end)],
      endsAtRight: true)
  }
}

extension ModelDiagram.Edge {
  /// Parents and owners are on the left.
  fileprivate var leadsToRight: Bool {
    if kind == .inheritance { return true }
    func isMany(_ cardinality: ModelDiagram.Cardinality?) -> Bool {
      cardinality == .zeroOrMore || cardinality == .oneOrMore
    }
    // Of one and many, the one is the owner.
    return !(isMany(start.cardinality) && !isMany(end.cardinality))
  }
}

extension DiagramBoxShape {
  /// Where a line touches the box: at a row, or at the name, where inheritance is above.
  fileprivate func offset(of end: ModelDiagram.End, kind: ModelDiagram.Edge.Kind) -> Double {
    end.row.map { middle(ofRow: $0) } ?? (kind == .inheritance ? 9 : 18)
  }
}
