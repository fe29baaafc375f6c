/// The measured shape of a diagram's box, with its texts truncated to fit.
struct DiagramBoxShape {
  struct Row {
    let name: String
    let type: String
    let indent: Double
  }

  static let rowHeight = 18.0
  static let nameHeight = 26.0
  static let subtitleHeight = 15.0
  static let padding = 10.0
  static let signWidth = 14.0
  static let titleSize = 14.0
  static let textSize = 12.0
  static let smallSize = 11.0

  let title: String
  let subtitle: String?
  let rows: [Row]
  let remark: String?
  /// The least width that fits all texts.
  let width: Double
  let height: Double

  private static let titleLimit = 300.0
  /// The width that a name or a type can always use of a row, in pixels.
  private static let shareLimit = 200.0
  private static let rowLimit = 440.0
  private static let columnGap = 18.0

  init(_ box: ModelDiagram.Box, showsSigns: Bool) {
    let sign = showsSigns ? Self.signWidth : 0
    rows = box.rows.map { Self.row($0, sign: sign) }
    remark = box.hiddenRows > 0 ? "and \(box.hiddenRows) unchanged" : nil
    var inner = max(90, TextMeasure.width(of: remark ?? "", size: Self.smallSize))
    for row in rows {
      inner = max(
        inner,
        row.indent + TextMeasure.width(of: row.name, size: Self.textSize) + Self.columnGap
          + TextMeasure.width(of: row.type, size: Self.textSize))
    }
    // The name may be as wide as the widest row.
    title = TextMeasure.fitted(
      box.name, width: max(Self.titleLimit, inner - sign), size: Self.titleSize, isBold: true)
    let words = box.notes
    subtitle =
      words.isEmpty
      ? nil
      : TextMeasure.fitted(words.joined(separator: ", "), width: max(Self.titleLimit, inner), size: Self.smallSize)
    inner = max(
      inner, sign + TextMeasure.width(of: title, size: Self.titleSize, isBold: true),
      TextMeasure.width(of: subtitle ?? "", size: Self.smallSize))
    width = (inner + 2 * Self.padding).rounded(.up)
    height =
      Self.headerHeight(hasSubtitle: subtitle != nil) + Double(rows.count) * Self.rowHeight
      + (remark == nil ? 0 : Self.rowHeight) + (rows.isEmpty && remark == nil ? 0 : 6)
  }

  /// Each text uses its own share, and what the other leaves free.
  private static func row(_ row: ModelDiagram.Row, sign: Double) -> Row {
    let indent = sign + Double(min(row.depth, 6)) * 12
    let name = row.formerName.map { "\(row.name) (was \($0))" } ?? row.name
    let type = ([row.type] + row.features).filter { !$0.isEmpty }.joined(separator: ", ")
    let widths = (TextMeasure.width(of: name, size: textSize), TextMeasure.width(of: type, size: textSize))
    let room = rowLimit - indent - columnGap
    return Row(
      name: TextMeasure.fitted(name, width: max(shareLimit, room - widths.1), size: textSize),
      type: TextMeasure.fitted(type, width: max(shareLimit, room - widths.0), size: textSize), indent: indent)
  }

  var headerHeight: Double { Self.headerHeight(hasSubtitle: subtitle != nil) }

  private static func headerHeight(hasSubtitle: Bool) -> Double { nameHeight + (hasSubtitle ? subtitleHeight : 0) }

  /// From the box's top.
  func middle(ofRow row: Int) -> Double { headerHeight + 3 + (Double(row) + 0.5) * Self.rowHeight }
}
