import Foundation

/// The layout of connected boxes in columns, with the lines between the columns.
struct ComponentLayout {
  typealias Frame = DiagramLayout.Frame
  typealias Point = DiagramLayout.Point
  typealias Route = DiagramLayout.Route

  /// The positions of the boxes in the diagram.
  let boxes: [Int]
  /// The positions of the edges in the diagram.
  let edges: [Int]
  /// The frame of each box, from the component's upper left corner.
  private(set) var frames: [Frame] = []
  /// The route of each edge.
  private(set) var routes: [Route] = []
  /// True for each edge whose route begins at the edge's end.
  private(set) var isReversed: [Bool] = []
  private(set) var width = 0.0
  private(set) var height = 0.0
  /// The penalty for the layout's looks; less is better.
  private var score = 0.0

  private static let columnGap = 70.0
  private static let passHeight = 8.0
  private static let aspect = 1.5

  /// Returns the best-looking layout of several with different numbers of columns.
  ///
  /// - Parameters:
  ///   - boxes: The boxes, which lines connect.
  ///   - edges: The edges between the boxes.
  ///   - diagram: The diagram.
  ///   - shapes: The sizes of all boxes of the diagram.
  /// - Returns: The layout.
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
    let ideal = Int((Self.aspect * total / mean).squareRoot().rounded())
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

  /// An edge between boxes of the component, by their positions in it.
  private struct Line {
    let start: Int
    let startOffset: Double
    let end: Int
    let endOffset: Double
    /// True when the line looks better from left to right.
    let isToRight: Bool
  }

  private init(boxes: [Int], edges: [Int], shapes: [DiagramBoxShape], lines: [Line], count: Int) {
    self.boxes = boxes
    self.edges = edges
    let links = lines.map { line in
      ColumnAssignment.Link(
        left: line.isToRight ? line.start : line.end, right: line.isToRight ? line.end : line.start)
    }
    let columns = ColumnAssignment(count: count, heights: shapes.map { $0.height + 26 }, links: links).columns()
    let columnCount = (columns.max() ?? 0) + 1
    var nodes = shapes.indices.map {
      ColumnOrder.Node(column: columns[$0], height: shapes[$0].height, isBox: true)
    }
    var segments: [ColumnOrder.Segment] = []
    var passes: [[Int]] = []
    var load = [Int](repeating: 0, count: columnCount)
    var loops = [Int](repeating: 0, count: columnCount)
    for line in lines {
      let isLeft = columns[line.start] < columns[line.end]
      let (first, last) = isLeft ? (line.start, line.end) : (line.end, line.start)
      let offsets = isLeft ? (line.startOffset, line.endOffset) : (line.endOffset, line.startOffset)
      isReversed.append(columns[line.start] > columns[line.end])
      var pass: [Int] = []
      if columns[first] == columns[last] {
        loops[columns[first]] += 1
      } else {
        var previous = (node: first, offset: offsets.0)
        for column in (columns[first] + 1)..<columns[last] {
          nodes.append(ColumnOrder.Node(column: column, height: Self.passHeight, isBox: false))
          let node = nodes.count - 1
          pass.append(node)
          segments.append(
            .init(left: previous.node, leftOffset: previous.offset, right: node, rightOffset: Self.passHeight / 2))
          load[column - 1] += 1
          previous = (node, Self.passHeight / 2)
        }
        segments.append(.init(left: previous.node, leftOffset: previous.offset, right: last, rightOffset: offsets.1))
        load[columns[last] - 1] += 1
      }
      passes.append(pass)
    }
    let order = ColumnOrder(nodes: nodes, segments: segments, columnCount: columnCount)
    var widths = [Double](repeating: 0, count: columnCount)
    for (box, column) in columns.enumerated() { widths[column] = max(widths[column], shapes[box].width) }
    var lefts: [Double] = []
    var x = 0.0
    for column in 0..<columnCount {
      lefts.append(x)
      x += widths[column]
      if column < columnCount - 1 || loops[column] > 0 {
        x += Self.columnGap + min(90, Double(load[column]) * 4)
      }
    }
    width = x
    frames = shapes.indices.map { box in
      Frame(x: lefts[columns[box]], y: order.tops[box], width: widths[columns[box]], height: shapes[box].height)
    }
    height = frames.map(\.bottom).max() ?? 0
    for (line, pass) in zip(lines, passes) {
      let isLoop = columns[line.start] == columns[line.end]
      let isLeft = columns[line.start] <= columns[line.end]
      let (first, last) = isLeft ? (line.start, line.end) : (line.end, line.start)
      let offsets = isLeft ? (line.startOffset, line.endOffset) : (line.endOffset, line.startOffset)
      let start = Point(x: frames[first].right, y: frames[first].y + offsets.0)
      let end = Point(x: isLoop ? frames[last].right : frames[last].x, y: frames[last].y + offsets.1)
      if isLoop {
        routes.append(Self.loop(from: start, to: end))
        continue
      }
      var route = Route(start: start, pieces: [])
      for node in pass {
        let y = order.tops[node] + Self.passHeight / 2
        height = max(height, y + Self.passHeight / 2)
        let left = lefts[nodes[node].column]
        route.pieces.append(Self.curve(from: route.end, to: Point(x: left, y: y)))
        route.pieces.append(.line(to: Point(x: left + widths[nodes[node].column], y: y)))
      }
      route.pieces.append(Self.curve(from: route.end, to: end))
      routes.append(route)
    }
    let length = segments.reduce(0.0) { sum, segment in
      sum + abs(order.tops[segment.left] + segment.leftOffset - order.tops[segment.right] - segment.rightOffset) + 80
    }
    let lineCount = Double(max(lines.count, 1))
    score =
      max(width / Self.aspect, height) + 0.5 * length / lineCount + 20 * Double(order.crossings) / lineCount
  }

  private static func curve(from start: Point, to end: Point) -> DiagramLayout.Piece {
    let middle = (start.x + (end.x - start.x) / 2).rounded()
    return .curve(Point(x: middle, y: start.y), Point(x: middle, y: end.y), to: end)
  }

  /// Returns the route between boxes of one column, or back to its box, in the room right of the column.
  private static func loop(from start: Point, to end: Point) -> Route {
    let reach = start.x + min(80, 46 + abs(end.y - start.y) * 0.06).rounded()
    return Route(
      start: start, pieces: [.curve(Point(x: reach, y: start.y), Point(x: reach, y: end.y), to: end)],
      endsAtRight: true)
  }
}

extension ModelDiagram.Edge {
  /// True when the edge looks better from left to right: parents and owners stand left.
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
  /// Returns the place where a line touches the box, from its top: at a row, or at the name, parents above others.
  fileprivate func offset(of end: ModelDiagram.End, kind: ModelDiagram.Edge.Kind) -> Double {
    end.row.map { middle(ofRow: $0) } ?? (kind == .inheritance ? 9 : 18)
  }
}
