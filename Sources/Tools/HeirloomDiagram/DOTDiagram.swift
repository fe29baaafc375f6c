import HeirloomOutput

/// A diagram in Graphviz's DOT language.
struct DOTDiagram {
  let diagram: ModelDiagram

  /// Marks a file made by this command.
  static let mark = "heirloom diagram"

  var file: String {
    var lines = [
      "// \(Self.mark)", "digraph model {",
      "  graph [rankdir=LR, nodesep=0.35, ranksep=0.9, fontname=\"Helvetica\", labelloc=t, label=\(Self.quoted(label))];",
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=11];",
      "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#566173\"];",
    ]
    for (index, box) in diagram.boxes.enumerated() { lines.append("  n\(index) [label=<\(Self.table(box))>];") }
    for edge in diagram.edges { lines.append("  " + line(of: edge)) }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  private var label: String { "\(diagram.title)\n\(diagram.summary)" }

  private static func table(_ box: ModelDiagram.Box) -> String {
    var head = [box.mark.sign, box.name].filter { !$0.isEmpty }.joined(separator: " ")
    if let formerName = box.formerName { head += " (was \(formerName))" }
    var name: [Markup] = [.tag("B", text: head)]
    let words = (box.isAbstract ? ["abstract"] : []) + (box.superentity.map { ["is a \($0)"] } ?? [])
    if !words.isEmpty { name += [.tag("BR"), .text(words.joined(separator: ", "))] }
    var rows: [Markup] = [
      .tag(
        "TR", [:],
        .tag("TD", ["PORT": "name", "COLSPAN": "2", "BGCOLOR": box.mark.background ?? "#e9eef5"], all: name))
    ]
    for (index, row) in box.rows.enumerated() {
      let indent = String(repeating: "\u{A0}\u{A0}", count: row.depth)
      let name = [row.mark.sign, indent + row.name].filter { !$0.isEmpty }.joined(separator: " ")
      let former = row.formerName.map { " (was \($0))" } ?? ""
      let color = row.mark.background ?? "#ffffff"
      rows.append(
        .tag(
          "TR", [:], .tag("TD", ["PORT": "l\(index)", "ALIGN": "LEFT", "BGCOLOR": color], text: name + former),
          .tag(
            "TD", ["PORT": "r\(index)", "ALIGN": "RIGHT", "BGCOLOR": color],
            text: ([row.type] + row.features).filter { !$0.isEmpty }.joined(separator: ", "))))
    }
    if box.hiddenRows > 0 {
      rows.append(.tag("TR", [:], .tag("TD", ["COLSPAN": "2"], text: "and \(box.hiddenRows) unchanged")))
    }
    return Markup.tag(
      "TABLE", ["BORDER": "0", "CELLBORDER": "1", "CELLSPACING": "0", "CELLPADDING": "3", "COLOR": "#b4bdca"],
      all: rows
    ).string.replacing("\n", with: "")
  }

  private func line(of edge: ModelDiagram.Edge) -> String {
    var attributes: [String]
    if edge.kind == .inheritance {
      attributes = ["dir=back", "arrowtail=empty", "style=dashed"]
    } else {
      attributes = [
        "dir=both", "arrowtail=\(edge.start.cardinality.map(Self.arrow) ?? "dot")",
        "arrowhead=\(edge.end.cardinality.map(Self.arrow) ?? "normal")",
      ]
    }
    if let color = edge.mark.color { attributes += ["color=\"\(color)\"", "penwidth=2"] }
    if edge.mark == .removed { attributes.append("style=dotted") }
    let (start, end) = (Self.port(edge.start, side: "r"), Self.port(edge.end, side: "l"))
    return "\(start) -> \(end) [\(attributes.joined(separator: ", "))];"
  }

  private static func port(_ end: ModelDiagram.End, side: String) -> String {
    "n\(end.box):" + (end.row.map { "\(side)\($0)" } ?? "name")
  }

  private static func arrow(_ cardinality: ModelDiagram.Cardinality) -> String {
    switch cardinality {
    case .zeroOrOne: "teeodot"
    case .exactlyOne: "teetee"
    case .zeroOrMore: "crowodot"
    case .oneOrMore: "crowtee"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = TerminalText.harmless(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"" + escaped.replacing("\n", with: "\\n") + "\""
  }
}

extension ModelDiagram.Mark {
  fileprivate var background: String? {
    switch self {
    case .unchanged: nil
    case .added: "#d5f2dd"
    case .removed: "#fbdcd9"
    case .changed: "#fbeec2"
    case .renamed: "#d6e7fc"
    }
  }

  fileprivate var color: String? {
    switch self {
    case .unchanged: nil
    case .added: "#16692e"
    case .removed: "#b3261e"
    case .changed: "#825500"
    case .renamed: "#0a4f9e"
    }
  }
}
