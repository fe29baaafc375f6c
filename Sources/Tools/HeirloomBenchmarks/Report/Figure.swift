import Foundation

/// Values are in seconds, bytes, instructions or fractions, whatever they are shown in.
package enum FigureUnit: String, Codable, Sendable {
  /// A multiple of another figure of the same run.
  case times
  /// Shown as MB of 2²⁰ bytes.
  case bytes
  /// Shown as MB of 10⁶ bytes: files, and what is written to them.
  case diskBytes
  /// A fraction, shown as a percentage.
  case part
  /// Shown in millions.
  case instructions
  case count
  /// Shown as milliseconds.
  case seconds

  var symbol: String {
    switch self {
    case .times: "×"
    case .bytes, .diskBytes: "MB"
    case .part: "%"
    case .instructions: "M instructions"
    case .count: ""
    case .seconds: "ms"
    }
  }

  func number(_ value: Double) -> String {
    switch self {
    case .times: Self.text(value, 2)
    case .bytes: Self.text(value / Double(1 << 20), 1)
    case .diskBytes: Self.text(value / 1e6, 1)
    case .part: Self.text(value * 100, 1)
    case .instructions: Self.text(value / 1e6, 2)
    case .count: Self.text(value, value < 100 && value != value.rounded() ? 1 : 0)
    case .seconds: Self.text(value * 1000, value < 0.1 ? 2 : 1)
    }
  }

  func text(_ value: Double) -> String { number(value) + (symbol.isEmpty ? "" : " " + symbol) }

  static func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}

struct Figure: Hashable, Codable {
  let name: String
  let value: Double?
  let unit: FigureUnit

  init(_ name: String, _ value: Double?, _ unit: FigureUnit) {
    (self.name, self.value, self.unit) = (name, value, unit)
  }

  /// With the unit, except for ratios, whose names show what they are multiples of.
  var heading: String { unit == .times || unit == .count ? name : "\(name) \(unit.symbol)" }
  var cell: String { value.map(unit.number) ?? "?" }
}
