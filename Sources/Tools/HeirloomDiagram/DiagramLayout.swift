/// The layout of a diagram in whole pixels; equal diagrams have equal layouts on every run.
struct DiagramLayout {
  struct Frame: Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
  }

  struct Point: Hashable {
    var x: Double
    var y: Double
  }

  /// A curve has horizontal ends.
  enum Piece: Hashable {
    case line(to: Point)
    case curve(Point, Point, to: Point)
  }

  struct Route: Hashable {
    var start: Point
    var pieces: [Piece]
    /// True if the line reaches its last box from the right instead of the left.
    var endsAtRight = false

    var end: Point {
      switch pieces.last {
      case .line(let point), .curve(_, _, let point): point
      case nil: start
      }
    }
  }

  let shapes: [DiagramBoxShape]
  private(set) var frames: [Frame]
  private(set) var routes: [Route]
  /// True for each edge whose route runs from its end to its start.
  private(set) var isReversed: [Bool]
  private(set) var width = 0.0
  private(set) var height = 0.0

  private static let componentGap = 44.0
  private static let aspect = 1.5

  init(_ diagram: ModelDiagram) {
    shapes = diagram.boxes.map { DiagramBoxShape($0, showsSigns: diagram.isDifference) }
    frames = shapes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) }
    routes = diagram.edges.map { _ in Route(start: Point(x: 0, y: 0), pieces: []) }
    isReversed = diagram.edges.map { _ in false }
    let components = Self.components(of: diagram)
    let parts = components.map {
      ComponentLayout.best(boxes: $0.boxes, edges: $0.edges, diagram: diagram, shapes: shapes)
    }
    let packing = RectanglePacking.best(
      parts.map { (width: $0.width, height: $0.height, isSingle: $0.boxes.count == 1) }, gap: Self.componentGap,
      aspect: Self.aspect)
    for (part, origin) in zip(parts, packing.origins) { take(part, at: origin) }
    (width, height) = (packing.width, packing.height)
  }

  private mutating func take(_ part: ComponentLayout, at origin: Point) {
    let (x, y) = (origin.x.rounded(), origin.y.rounded())
    for (box, frame) in zip(part.boxes, part.frames) {
      frames[box] = Frame(x: frame.x + x, y: frame.y + y, width: frame.width, height: frame.height)
    }
    for (edge, route) in zip(part.edges, part.routes) {
      routes[edge] = route.moved(x: x, y: y)
    }
    for (edge, reversed) in zip(part.edges, part.isReversed) { isReversed[edge] = reversed }
  }

  /// The largest first; boxes keep their order within a group.
  private static func components(of diagram: ModelDiagram) -> [(boxes: [Int], edges: [Int])] {
    var group = Array(diagram.boxes.indices)
    func root(_ box: Int) -> Int {
      var box = box
      while group[box] != box {
        group[box] = group[group[box]]
        box = group[box]
      }
      return box
    }
    for edge in diagram.edges {
      let (left, right) = (root(edge.start.box), root(edge.end.box))
      group[max(left, right)] = min(left, right)
    }
    var boxes: [Int: [Int]] = [:]
    for box in diagram.boxes.indices { boxes[root(box), default: []].append(box) }
    var edges: [Int: [Int]] = [:]
    for (index, edge) in diagram.edges.enumerated() { edges[root(edge.start.box), default: []].append(index) }
    return boxes.keys.sorted { left, right in
      let counts = (boxes[left]?.count ?? 0, boxes[right]?.count ?? 0)
      return counts.0 == counts.1 ? left < right : counts.0 > counts.1
    }.map { (boxes[$0] ?? [], edges[$0] ?? []) }
  }
}

extension DiagramLayout.Route {
  fileprivate func moved(x: Double, y: Double) -> Self {
    func move(_ point: DiagramLayout.Point) -> DiagramLayout.Point { .init(x: point.x + x, y: point.y + y) }
    var route = self
    route.start = move(start)
    route.pieces = pieces.map { piece in
      switch piece {
      case .line(let end): .line(to: move(end))
      case .curve(let first, let second, let end): .curve(move(first), move(second), to: move(end))
      }
    }
    return route
  }
}
