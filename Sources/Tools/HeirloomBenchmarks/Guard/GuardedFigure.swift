import Foundation

/// A measured figure with its ceiling, valid on any machine.
package struct GuardedFigure: Hashable, Sendable {
  package enum Unit: Hashable, Sendable {
    /// A multiple of another figure of the same run.
    case times
    /// Shown as MB of 2²⁰ bytes.
    case bytes
    /// A fraction, shown as a percentage.
    case part
    /// Shown in millions.
    case instructions
    case count
    /// Shown as milliseconds.
    case seconds
  }

  package let subject: String
  package let measured: Double
  package let ceiling: Double
  package let unit: Unit
  /// The design's goal, which may not be met yet.
  package let goal: Double?

  /// A ceiling of `.infinity` only shows the figure beside its goal.
  package init(_ subject: String, _ measured: Double, atMost ceiling: Double, _ unit: Unit, goal: Double? = nil) {
    self.subject = subject
    self.measured = measured
    self.ceiling = ceiling
    self.unit = unit
    self.goal = goal
  }

  /// Also true if the figure isn't a number.
  package var isOver: Bool { !(measured <= ceiling) }

  /// As a fraction of the ceiling; below 0 if the figure exceeds it.
  package var marginLeft: Double { ceiling > 0 ? 1 - measured / ceiling : (isOver ? -1 : 0) }

  package var sentence: String {
    "\(subject): \(Self.text(measured, unit)) was measured, at most \(Self.text(ceiling, unit)) is allowed."
  }

  /// Subject, measured value, ceiling, margin, goal.
  package var cells: [String] {
    let margin = isOver ? "OVER" : String(format: "%.0f %%", marginLeft * 100)
    let bounds = ceiling.isInfinite && !isOver ? ["-", "-"] : [Self.text(ceiling, unit), margin]
    let goal = goal.map { "\(Self.text($0, unit))\(measured <= $0 ? ", met" : "")" } ?? "-"
    return [subject, Self.text(measured, unit)] + bounds + [goal]
  }

  private static func text(_ value: Double, _ unit: Unit) -> String {
    switch unit {
    case .times: String(format: "%.2f ×", value)
    case .bytes: String(format: "%.1f MB", value / Double(1 << 20))
    case .part: String(format: "%.1f %%", value * 100)
    case .instructions: String(format: "%.2f M instructions", value / 1e6)
    case .count: String(format: "%.0f", value)
    case .seconds: String(format: "%.2f ms", value * 1000)
    }
  }
}
