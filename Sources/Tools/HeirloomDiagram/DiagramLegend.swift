import HeirloomOutput

struct DiagramLegend {
  enum Item: Hashable {
    case mark(ModelDiagram.Mark)
    case cardinality(ModelDiagram.Cardinality)
    case inheritance
    case optional
  }

  private let items: [Item]

  /// Has only the symbols that the diagram uses.
  init(_ diagram: ModelDiagram) {
    var items: [Item] = diagram.isDifference ? ModelDiagram.Mark.allCases.dropFirst().map { .mark($0) } : []
    for cardinality in [ModelDiagram.Cardinality.zeroOrOne, .exactlyOne, .zeroOrMore, .oneOrMore]
    where diagram.edges.contains(where: { $0.start.cardinality == cardinality || $0.end.cardinality == cardinality }) {
      items.append(.cardinality(cardinality))
    }
    if diagram.edges.contains(where: { $0.kind == .inheritance }) { items.append(.inheritance) }
    if diagram.boxes.contains(where: { $0.rows.contains { $0.type.hasSuffix("?") } }) { items.append(.optional) }
    self.items = items
  }

  private static let signWidth = 30.0
  private static let size = 12.0

  func lines(within width: Double) -> [[Item]] {
    var lines: [[Item]] = []
    var used = 0.0
    for item in items {
      let own = Self.width(of: item)
      if !lines.isEmpty, used + own <= width {
        lines[lines.count - 1].append(item)
        used += own
      } else {
        lines.append([item])
        used = own
      }
    }
    return lines
  }

  /// Side by side.
  func markup(_ items: [Item], x: Double, y: Double) -> [Markup] {
    var x = x
    return items.map { item in
      defer { x += Self.width(of: item) }
      let label = SVGDiagram.text(item.words, x: x + Self.signWidth, y: y + 4, "legend")
      switch item {
      case .mark(let mark):
        let tint = Markup.tag(
          "rect",
          [
            "class": "tint", "x": SVGDiagram.number(x), "y": SVGDiagram.number(y - 8), "width": "22", "height": "16",
          ])
        return .tag(
          "g", ["class": "legend-item row \(mark.rawValue)"], tint,
          SVGDiagram.text(mark.sign, x: x + 6, y: y + 4, "property sign"), label)
      case .cardinality(let cardinality):
        let line = Markup.tag(
          "path", ["class": "line", "d": "M\(SVGDiagram.number(x)) \(SVGDiagram.number(y)) h24"])
        let end = EdgeEnd.markup(cardinality, at: .init(x: x + 24, y: y), side: -1)
        return .tag("g", ["class": "legend-item"], all: [line] + end + [label])
      case .inheritance:
        let line = Markup.tag(
          "path", ["class": "line", "d": "M\(SVGDiagram.number(x)) \(SVGDiagram.number(y)) h24"])
        return .tag(
          "g", ["class": "legend-item inheritance"], line, EdgeEnd.triangle(at: .init(x: x + 24, y: y), side: -1),
          label)
      case .optional:
        return .tag("g", ["class": "legend-item"], SVGDiagram.text("?", x: x + 14, y: y + 4, "type"), label)
      }
    }
  }

  private static func width(of item: Item) -> Double {
    (signWidth + TextMeasure.width(of: item.words, size: size) + 20).rounded(.up)
  }
}

extension DiagramLegend.Item {
  fileprivate var words: String {
    switch self {
    case .mark(let mark): mark.rawValue
    case .cardinality(.zeroOrOne): "none or one"
    case .cardinality(.exactlyOne): "one"
    case .cardinality(.zeroOrMore): "any number"
    case .cardinality(.oneOrMore): "one or more"
    case .inheritance: "is a"
    case .optional: "optional"
    }
  }
}
