import HeirloomOutput

/// A self-contained picture without scripts, which follows the reader's light or dark mode.
struct SVGDiagram {
  let diagram: ModelDiagram
  private let layout: DiagramLayout

  /// Marks a file made by this command.
  static let mark = "heirloom diagram"

  private static let margin = 24.0
  private static let titleHeight = 52.0
  private static let legendHeight = 22.0

  init(_ diagram: ModelDiagram) {
    self.diagram = diagram
    layout = DiagramLayout(diagram)
  }

  var file: String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- \(Self.mark) -->\n"
      + markup(attributes: [(name: "xmlns", value: "http://www.w3.org/2000/svg")]).string
  }

  /// An HTML element, which needs no namespace.
  var inline: Markup { markup(attributes: []) }

  private func markup(attributes: [(name: String, value: String)]) -> Markup {
    let legend = DiagramLegend(diagram)
    let words = TextMeasure.width(of: diagram.summary, size: 13)
    let titleWidth = TextMeasure.width(of: diagram.title, size: 18, isBold: true)
    let inner = max(layout.width, 420, min(max(words, titleWidth), 900))
    let legendLines = legend.lines(within: inner)
    let top = Self.margin + Self.titleHeight + Double(legendLines.count) * Self.legendHeight + 14
    let (width, height) = (inner + 2 * Self.margin, top + layout.height + Self.margin)
    var pieces: [Markup] = [
      .tag("title", text: diagram.title), .tag("desc", text: diagram.summary), .style(SVGStyle.rules),
      .tag(
        "rect", ["class": "paper", "width": Self.number(width), "height": Self.number(height)]),
      Self.text(
        TextMeasure.fitted(diagram.title, width: inner, size: 18, isBold: true), x: Self.margin, y: Self.margin + 18,
        "title"),
      Self.text(
        TextMeasure.fitted(diagram.summary, width: inner, size: 13), x: Self.margin, y: Self.margin + 40, "summary"),
    ]
    for (line, items) in legendLines.enumerated() {
      pieces += legend.markup(
        items, x: Self.margin, y: Self.margin + Self.titleHeight + (Double(line) + 0.5) * Self.legendHeight)
    }
    let origin = DiagramLayout.Point(x: Self.margin, y: top)
    pieces.append(.tag("g", ["class": "edges"], all: diagram.edges.indices.map { edge($0, origin) }))
    pieces += diagram.boxes.indices.map { box($0, origin) }
    return .element(
      "svg",
      attributes + [
        ("class", "heirloom-diagram"), ("role", "img"), ("aria-label", "\(diagram.title): \(diagram.summary)"),
        ("width", Self.number(width)), ("height", Self.number(height)),
        ("viewBox", "0 0 \(Self.number(width)) \(Self.number(height))"),
      ], pieces)
  }

  // MARK: Boxes

  private func box(_ index: Int, _ origin: DiagramLayout.Point) -> Markup {
    let (box, shape, frame) = (diagram.boxes[index], layout.shapes[index], layout.frames[index])
    let (x, y) = (frame.x + origin.x, frame.y + origin.y)
    let header = shape.headerHeight
    let hasBody = frame.height > header
    var pieces: [Markup] = [
      .tag("title", text: Self.words(of: box)),
      .tag(
        "rect",
        [
          "class": "body", "x": Self.number(x), "y": Self.number(y), "width": Self.number(frame.width),
          "height": Self.number(frame.height), "rx": "6",
        ]),
      .tag("path", ["class": "header", "d": Self.headerPath(x, y, frame.width, header, isWhole: !hasBody)]),
    ]
    var nameX = x + DiagramBoxShape.padding
    if !box.mark.sign.isEmpty {
      pieces.append(Self.text(box.mark.sign, x: nameX, y: y + 18, "name sign"))
      nameX += DiagramBoxShape.signWidth
    }
    pieces.append(Self.text(shape.title, x: nameX, y: y + 18, box.isAbstract ? "name abstract" : "name"))
    if let subtitle = shape.subtitle {
      pieces.append(Self.text(subtitle, x: x + DiagramBoxShape.padding, y: y + 34, "note"))
    }
    for row in box.rows.indices { pieces.append(self.row(box.rows[row], shape, at: row, x, y, frame.width)) }
    if let remark = shape.remark {
      pieces.append(
        Self.text(remark, x: x + DiagramBoxShape.padding, y: y + shape.middle(ofRow: box.rows.count) + 4, "note"))
    }
    // The border is drawn last, because tinted rows would cover it.
    pieces.append(
      .tag(
        "rect",
        [
          "class": "frame", "x": Self.number(x), "y": Self.number(y), "width": Self.number(frame.width),
          "height": Self.number(frame.height), "rx": "6",
        ]))
    return .tag("g", ["class": "box \(box.mark.rawValue)", "data-entity": box.name], all: pieces)
  }

  private func row(
    _ row: ModelDiagram.Row, _ shape: DiagramBoxShape, at index: Int, _ x: Double, _ y: Double, _ width: Double
  ) -> Markup {
    let middle = y + shape.middle(ofRow: index)
    let shown = shape.rows[index]
    var pieces: [Markup] = [
      .tag("title", text: Self.words(of: row))
    ]
    if row.mark != .unchanged {
      pieces.append(
        .tag(
          "rect",
          [
            "class": "tint", "x": Self.number(x), "y": Self.number(middle - DiagramBoxShape.rowHeight / 2),
            "width": Self.number(width), "height": Self.number(DiagramBoxShape.rowHeight),
          ]))
      pieces.append(Self.text(row.mark.sign, x: x + DiagramBoxShape.padding, y: middle + 4, "property sign"))
    }
    pieces.append(
      Self.text(shown.name, x: x + DiagramBoxShape.padding + shown.indent, y: middle + 4, "property"))
    if !shown.type.isEmpty {
      pieces.append(Self.text(shown.type, x: x + width - DiagramBoxShape.padding, y: middle + 4, "type"))
    }
    return .tag(
      "g",
      [
        "class": "row \(row.mark.rawValue)", "data-property": row.path.joined(separator: "."),
        "data-kind": row.kind.rawValue,
      ], all: pieces)
  }

  private static func words(of box: ModelDiagram.Box) -> String {
    ([box.name] + box.notes + box.details).joined(separator: "; ")
  }

  private static func words(of row: ModelDiagram.Row) -> String {
    ([row.path.joined(separator: ".") + ": " + row.type] + row.features + row.details).joined(separator: "; ")
  }

  // MARK: Lines

  private func edge(_ index: Int, _ origin: DiagramLayout.Point) -> Markup {
    let edge = diagram.edges[index]
    let route = layout.routes[index]
    let (first, last) = layout.isReversed[index] ? (edge.end, edge.start) : (edge.start, edge.end)
    var data = "M\(Self.point(route.start, origin))"
    for piece in route.pieces {
      switch piece {
      case .line(let end): data += " L\(Self.point(end, origin))"
      case .curve(let one, let two, let end):
        data += " C\(Self.point(one, origin)) \(Self.point(two, origin)) \(Self.point(end, origin))"
      }
    }
    var pieces: [Markup] = [.tag("path", ["class": "line", "d": data])]
    let ends = [(first, route.start, 1.0), (last, route.end, route.endsAtRight ? 1.0 : -1.0)]
    for (end, point, side) in ends {
      let place = DiagramLayout.Point(x: point.x + origin.x, y: point.y + origin.y)
      if edge.kind == .inheritance {
        // The triangle points to the parent, where the edge starts.
        if end == edge.start { pieces.append(EdgeEnd.triangle(at: place, side: side)) }
      } else {
        pieces += EdgeEnd.markup(end.cardinality, at: place, side: side)
      }
    }
    return .tag(
      "g",
      [
        "class": "edge \(edge.kind.rawValue) \(edge.mark.rawValue)", "data-from": diagram.boxes[first.box].name,
        "data-to": diagram.boxes[last.box].name,
      ], all: pieces)
  }

  // MARK: Writing

  static func number(_ value: Double) -> String {
    // Int64(_:) would crash on NaN.
    Int64(exactly: value).map { String($0) } ?? String(value)
  }

  private static func point(_ point: DiagramLayout.Point, _ origin: DiagramLayout.Point) -> String {
    "\(number(point.x + origin.x)) \(number(point.y + origin.y))"
  }

  static func text(_ text: String, x: Double, y: Double, _ style: String) -> Markup {
    .tag("text", ["class": style, "x": number(x), "y": number(y)], text: text)
  }

  /// Rounded at the top, and also at the bottom if no rows follow.
  private static func headerPath(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, isWhole: Bool
  ) -> String {
    let (left, right, top, bottom) = (number(x), number(x + width), number(y + 6), number(y + height))
    let above = "M\(left) \(top) a6 6 0 0 1 6 -6 H\(number(x + width - 6)) a6 6 0 0 1 6 6"
    guard isWhole else { return "\(above) V\(bottom) H\(left) Z" }
    return "\(above) V\(number(y + height - 6)) a6 6 0 0 1 -6 6 H\(number(x + 6)) a6 6 0 0 1 -6 -6 Z M\(right) \(top)"
  }
}

enum EdgeEnd {
  /// `side` is 1 for a line that leaves to the right, -1 to the left.
  static func markup(
    _ cardinality: ModelDiagram.Cardinality?, at point: DiagramLayout.Point, side: Double
  ) -> [Markup] {
    let (x, y) = (point.x, point.y)
    func bar(_ distance: Double) -> String { "M\(n(x + side * distance)) \(n(y - 5)) v10" }
    let foot = "M\(n(x)) \(n(y - 5)) L\(n(x + side * 10)) \(n(y)) L\(n(x)) \(n(y + 5))"
    func ring(_ distance: Double) -> Markup {
      .tag("circle", ["class": "ring", "cx": n(x + side * distance), "cy": n(y), "r": "3.5"])
    }
    switch cardinality {
    case .exactlyOne: return [.tag("path", ["class": "foot", "d": "\(bar(6)) \(bar(10))"])]
    case .zeroOrOne: return [.tag("path", ["class": "foot", "d": bar(6)]), ring(13)]
    case .oneOrMore: return [.tag("path", ["class": "foot", "d": "\(foot) \(bar(14))"])]
    case .zeroOrMore: return [.tag("path", ["class": "foot", "d": foot]), ring(14)]
    case nil: return [.tag("circle", ["class": "dot", "cx": n(x), "cy": n(y), "r": "2.5"])]
    }
  }

  /// Marks the parent.
  static func triangle(at point: DiagramLayout.Point, side: Double) -> Markup {
    let (x, y) = (point.x, point.y)
    return .tag(
      "path",
      ["class": "triangle", "d": "M\(n(x)) \(n(y)) L\(n(x + side * 11)) \(n(y - 6)) V\(n(y + 6)) Z"])
  }

  private static func n(_ value: Double) -> String { SVGDiagram.number(value) }
}
