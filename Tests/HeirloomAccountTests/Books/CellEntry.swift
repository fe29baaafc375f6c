import Foundation

enum CellEntry {
  case carried, changed, lost

  /// `before` isn't NULL.
  init(_ before: Cell, _ after: Cell, from source: XMLModel.Attribute, to destination: XMLModel.Attribute) {
    if after == .null {
      self = .lost
    } else if source.isExternal != destination.isExternal {
      // The first byte says where the data is: 1 for here.
      self = destination.isExternal && Self.isTagged(after, before) ? .carried : .changed
    } else if before.equals(after) || Self.back(after, to: source.type)?.equals(before) ?? false {
      self = .carried
    } else {
      self = .changed
    }
  }

  private static func isTagged(_ tagged: Cell, _ plain: Cell) -> Bool {
    guard case .blob(let bytes) = tagged, case .blob(let content) = plain else { return false }
    return bytes.first == 1 && Array(bytes.dropFirst()) == content
  }

  /// The cell as a column of that type has it; `nil` if it can't.
  private static func back(_ cell: Cell, to type: String) -> Cell? {
    switch (cell, type) {
    case (.integer(let value), "Boolean"): .integer(value == 0 ? 0 : 1)
    case (.integer, "Integer 16"), (.integer, "Integer 32"), (.integer, "Integer 64"): cell
    case (.real(let value), "Integer 16"), (.real(let value), "Integer 32"), (.real(let value), "Integer 64"):
      Int64(exactly: value.rounded(.towardZero)).map(Cell.integer)
    case (.integer(let value), "Double"), (.integer(let value), "Float"): .real(Double(value))
    case (.real, "Double"), (.real, "Float"), (.real, "Decimal"), (.integer, "Decimal"): cell
    default: nil
    }
  }
}
