import Foundation

/// The part of a plot that shows one workload at all sizes.
struct CostPanel {
  let workload: MigrationWorkload
  let tables: [ReportTable]

  /// From back to front, with the names of their styles.
  private static let ways: [(way: MigrationBenchmark.Way, kind: String, radius: Double)] = [
    (.limit, "limit", 2), (.limitProven, "proven", 3), (.heirloom, "heirloom", 3.5),
  ]

  var sizes: [Double] { tables.compactMap { $0.notes.map(Double.init) } }

  var milliseconds: [Double] {
    Self.ways.flatMap { points(of: $0.way).map(\.milliseconds) }
  }

  private func points(of way: MigrationBenchmark.Way) -> [(notes: Int, milliseconds: Double)] {
    tables.compactMap { table in
      guard let notes = table.notes, let seconds = table.row(way.title)?.value("median") else { return nil }
      return (notes, seconds * 1000)
    }
  }

  /// In the panel's own coordinates; `sizes` is the horizontal scale, `times` the vertical one.
  func lines(sizes: LogScale, times: LogScale) -> [String] {
    var lines = [SVGMarkup.text(workload.rawValue, x: sizes.start, y: times.end - 4, kind: "name")]
    for (index, ratios) in ratios.enumerated() {
      lines.append(SVGMarkup.text(ratios, x: sizes.start, y: times.start + 36 + 14 * Double(index), kind: "small"))
    }
    for value in times.spaced(times.roundValues, by: 16) {
      let y = times.position(of: value)
      lines.append(Self.path("grid", [(sizes.start, y), (sizes.end, y)]))
      lines.append(SVGMarkup.text(Self.milliseconds(value), x: sizes.start - 6, y: y + 4, kind: "time"))
    }
    let labelled = sizes.spaced(self.sizes, by: 40)
    for value in self.sizes {
      let x = sizes.position(of: value)
      lines.append(Self.path("grid", [(x, times.start), (x, times.end)]))
      guard labelled.contains(value) else { continue }
      lines.append(SVGMarkup.text(Self.short(value), x: x, y: times.start + 17, kind: "size"))
    }
    for (way, kind, radius) in Self.ways {
      let found = points(of: way)
      let places = found.map { (sizes.position(of: Double($0.notes)), times.position(of: $0.milliseconds)) }
      if places.count > 1 { lines.append(Self.path(kind, places)) }
      for (point, place) in zip(found, places) {
        let note = "\(kind): \(point.notes) notes, \(FigureUnit.text(point.milliseconds, 1)) ms"
        lines.append(
          "<circle class=\"\(kind)\" cx=\"\(SVGMarkup.number(place.0))\" cy=\"\(SVGMarkup.number(place.1))\" r=\"\(radius)\">"
            + "<title>\(SVGMarkup.escaped(note))</title></circle>")
      }
    }
    return lines
  }

  /// From the smallest store to the largest, as many as fit.
  private var ratios: [String] {
    [("× limit", "unproven"), ("× proven", "proven")].compactMap { figure, name in
      let ratios = tables.compactMap { $0.row(MigrationBenchmark.Way.heirloom.title)?.value(figure) }
      let list = ratios.suffix(5).map { FigureUnit.text($0, 2) }.joined(separator: ", ")
      return ratios.isEmpty ? nil : "\(list) × by hand, \(name)"
    }
  }

  private static func path(_ kind: String, _ places: [(Double, Double)]) -> String {
    let points = places.map { "\(SVGMarkup.number($0.0)) \(SVGMarkup.number($0.1))" }.joined(separator: "L")
    return "<path class=\"\(kind)\" d=\"M\(points)\"/>"
  }

  /// As in `500`, `20k`, `1.5M`.
  static func short(_ value: Double) -> String {
    let (scaled, unit) = value >= 1e6 ? (value / 1e6, "M") : value >= 1e3 ? (value / 1e3, "k") : (value, "")
    return FigureUnit.text(scaled, scaled == scaled.rounded() ? 0 : 1) + unit
  }

  /// For a round number, as in `0.5`, `200`.
  static func milliseconds(_ value: Double) -> String {
    FigureUnit.text(value, max(0, Int(-log10(value).rounded(.down))))
  }
}
