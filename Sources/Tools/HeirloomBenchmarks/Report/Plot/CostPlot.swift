/// A self-contained SVG file with a panel for each workload, all with the same scales.
///
/// Its colours are visible on light and dark backgrounds, and strokes distinguish its lines.
struct CostPlot {
  private let panels: [CostPanel]
  private let machine: String

  private static let columns = 3
  private static let panelWidth = 300.0
  private static let panelHeight = 264.0
  private static let top = 96.0
  private static let left = 30.0
  private static let bottom = 22.0

  init(_ report: BenchmarkReport) {
    machine = report.machine
    panels = MigrationWorkload.allCases.compactMap { workload in
      let tables = report.tables.filter { $0.workload == workload.rawValue }
      return tables.isEmpty ? nil : CostPanel(workload: workload, tables: tables)
    }
  }

  var svg: String {
    let columns = min(Self.columns, max(1, panels.count))
    let rows = (panels.count + columns - 1) / columns
    // The heading and the legend need the width of two panels.
    let width = Self.left + Double(max(columns, 2)) * Self.panelWidth + 10
    let height = Self.top + Double(rows) * Self.panelHeight + Self.bottom
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(SVGMarkup.number(width)) \(SVGMarkup.number(height))" \
      width="\(SVGMarkup.number(width))" height="\(SVGMarkup.number(height))" role="img">
      """,
      "<title>What a migration costs by the size of the store</title>", "<style>\(Self.style)</style>",
      SVGMarkup.text("What a migration costs by the size of the store", x: 12, y: 24, kind: "heading"),
      SVGMarkup.text(machine, x: 12, y: 43, kind: "small"),
    ]
    lines += key
    let times = LogScale(
      values: panels.flatMap(\.milliseconds), margin: 0.12, from: Self.panelHeight - 76, to: 16)
    let sizes = LogScale(values: panels.flatMap(\.sizes), margin: 0.15, from: 36, to: Self.panelWidth - 18)
    for (index, panel) in panels.enumerated() {
      let x = Self.left + Double(index % columns) * Self.panelWidth
      let y = Self.top + Double(index / columns) * Self.panelHeight
      lines.append("<g transform=\"translate(\(SVGMarkup.number(x)) \(SVGMarkup.number(y)))\">")
      lines += panel.lines(sizes: sizes, times: times)
      lines.append("</g>")
    }
    let middle = Self.top + Double(rows) * Self.panelHeight / 2
    lines += [
      SVGMarkup.text(
        "notes in the store", x: Self.left + Double(columns) * Self.panelWidth / 2, y: height - 12, kind: "axis"),
      "<g transform=\"translate(20 \(SVGMarkup.number(middle))) rotate(-90)\">"
        + SVGMarkup.text("median time, ms", x: 0, y: 0, kind: "axis") + "</g>",
      "</svg>",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private var key: [String] {
    let entries = [
      ("heirloom", "Heirloom", 60.0), ("proven", "by hand, with the same proof", 178),
      ("limit", "by hand, unproven", 0),
    ]
    var x = 12.0
    return entries.flatMap { kind, name, width in
      defer { x += 42 + width + 18 }
      return [
        "<path class=\"\(kind)\" d=\"M\(SVGMarkup.number(x)) 66h34\"/>",
        SVGMarkup.text(name, x: x + 42, y: 70, kind: "label"),
      ]
    }
  }

  private static let style = """
    text{font-family:ui-sans-serif,system-ui,"Helvetica Neue",Arial,sans-serif;fill:#777}
    .heading{font-size:16px;font-weight:600}.name{font-size:13px;font-weight:600}.label{font-size:12px}
    .small{font-size:11px}.axis{font-size:12px;text-anchor:middle}.size{font-size:11px;text-anchor:middle}
    .time{font-size:11px;text-anchor:end}
    path{fill:none;stroke-width:2;stroke-linejoin:round}.grid{stroke:#888;stroke-opacity:.35;stroke-width:1}
    path.heirloom{stroke:#2b7fd4}path.proven{stroke:#c7720a;stroke-dasharray:6 3}
    path.limit{stroke:#8a8a8a;stroke-dasharray:1.5 3}
    circle.heirloom{fill:#2b7fd4}circle.proven{fill:#c7720a}circle.limit{fill:#8a8a8a}
    """
}
