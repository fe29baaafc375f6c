import Foundation

/// A measured figure with its ceiling, valid on any machine.
package struct GuardedFigure: Hashable, Sendable {
  package let subject: String
  package let measured: Double
  package let ceiling: Double
  package let unit: FigureUnit
  /// The design's goal, which may not be met yet.
  package let goal: Double?

  /// A ceiling of `.infinity` only shows the figure beside its goal.
  package init(_ subject: String, _ measured: Double, atMost ceiling: Double, _ unit: FigureUnit, goal: Double? = nil) {
    (self.subject, self.measured, self.ceiling, self.unit, self.goal) = (subject, measured, ceiling, unit, goal)
  }

  func scaled(by scale: Double) -> GuardedFigure {
    GuardedFigure(subject, measured, atMost: ceiling * scale, unit, goal: goal)
  }

  /// Also true if the figure isn't a number.
  package var isOver: Bool { !(measured <= ceiling) }

  /// As a fraction of the ceiling; below 0 if the figure exceeds it.
  package var marginLeft: Double { ceiling > 0 ? 1 - measured / ceiling : (isOver ? -1 : 0) }

  package var sentence: String {
    "\(subject): \(unit.text(measured)) was measured, at most \(unit.text(ceiling)) is allowed."
  }

  /// Subject, measured value, ceiling, margin, goal.
  package var cells: [String] {
    let margin = isOver ? "OVER" : String(format: "%.0f %%", marginLeft * 100)
    let bounds = ceiling.isInfinite && !isOver ? ["-", "-"] : [unit.text(ceiling), margin]
    let goal = goal.map { "\(unit.text($0))\(measured <= $0 ? ", met" : "")" } ?? "-"
    return [subject, unit.text(measured)] + bounds + [goal]
  }
}
