/// Programs without media queries show the light colours; many don't support CSS variables.
enum SVGStyle {
  static let rules: String =
    """
    .heirloom-diagram text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, \
    "Noto Sans", "DejaVu Sans", sans-serif; font-size: 12px; fill: #1b2430; }
    .heirloom-diagram .title { font-size: 18px; font-weight: 700; }
    .heirloom-diagram .summary { font-size: 13px; }
    .heirloom-diagram .name { font-size: 14px; font-weight: 700; }
    .heirloom-diagram .abstract { font-style: italic; }
    .heirloom-diagram .note { font-size: 11px; }
    .heirloom-diagram .type { text-anchor: end; }
    .heirloom-diagram .sign { font-weight: 700; }
    .heirloom-diagram .line, .heirloom-diagram .foot { fill: none; stroke-width: 1.4; }
    .heirloom-diagram .inheritance .line { stroke-dasharray: 6 3; }
    .heirloom-diagram .ring, .heirloom-diagram .triangle { stroke-width: 1.4; }
    .heirloom-diagram .frame { fill: none; stroke-width: 1; }
    .heirloom-diagram .edge.added .line { stroke-width: 2.2; }
    .heirloom-diagram .edge.removed .line { stroke-width: 2.2; stroke-dasharray: 2 4; }
    .heirloom-diagram .box.added > .frame, .heirloom-diagram .box.changed > .frame, \
    .heirloom-diagram .box.renamed > .frame { stroke-width: 2; }
    .heirloom-diagram .box.removed > .frame { stroke-width: 2; stroke-dasharray: 5 4; }

    """ + rules(.light) + "@media (prefers-color-scheme: dark) {\n" + rules(.dark)
    + "}\n@media print {\n" + rules(.light) + "}\n"

  private struct Palette {
    let paper: String
    let body: String
    let header: String
    let text: String
    let faint: String
    let frame: String
    let line: String
    /// For each mark, a strong colour and one for the background.
    let marks: [(mark: ModelDiagram.Mark, strong: String, tint: String)]

    static let light = Palette(
      paper: "#ffffff", body: "#ffffff", header: "#e9eef5", text: "#1b2430", faint: "#566173", frame: "#b4bdca",
      line: "#76839a",
      marks: [
        (.added, "#16692e", "#d5f2dd"), (.removed, "#b3261e", "#fbdcd9"), (.changed, "#825500", "#fbeec2"),
        (.renamed, "#0a4f9e", "#d6e7fc"),
      ])
    static let dark = Palette(
      paper: "#11161d", body: "#1a212b", header: "#2a3544", text: "#e8edf3", faint: "#a9b4c2", frame: "#4a5768",
      line: "#8795a9",
      marks: [
        (.added, "#6bdc85", "#143a22"), (.removed, "#ff9a91", "#4c1f1f"), (.changed, "#ecc45c", "#403413"),
        (.renamed, "#8cc4ff", "#173354"),
      ])
  }

  private static func rules(_ palette: Palette) -> String {
    let scope = ".heirloom-diagram"
    var lines = [
      "\(scope) .paper { fill: \(palette.paper); }", "\(scope) .body { fill: \(palette.body); }",
      "\(scope) .header { fill: \(palette.header); }", "\(scope) .frame { stroke: \(palette.frame); }",
      "\(scope) text { fill: \(palette.text); }",
      "\(scope) .type, \(scope) .note, \(scope) .summary, \(scope) .legend { fill: \(palette.faint); }",
      "\(scope) .line, \(scope) .foot { stroke: \(palette.line); }",
      "\(scope) .ring, \(scope) .triangle { stroke: \(palette.line); fill: \(palette.paper); }",
      "\(scope) .dot { fill: \(palette.line); }",
    ]
    for (mark, strong, tint) in palette.marks {
      let name = mark.rawValue
      lines += [
        "\(scope) .box.\(name) > .header, \(scope) .row.\(name) .tint { fill: \(tint); }",
        "\(scope) .box.\(name) > .frame { stroke: \(strong); }",
        "\(scope) .box.\(name) > .name, \(scope) .row.\(name) .property { fill: \(strong); }",
        "\(scope) .edge.\(name) .line, \(scope) .edge.\(name) .foot, \(scope) .edge.\(name) .ring,"
          + " \(scope) .edge.\(name) .triangle { stroke: \(strong); }",
        "\(scope) .edge.\(name) .dot { fill: \(strong); }",
      ]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
