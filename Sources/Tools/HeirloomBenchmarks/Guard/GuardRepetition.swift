/// Measures figures above their ceilings again, since other load on the machine affects them.
package enum GuardRepetition {
  package static let factor = 3

  /// If a figure exceeds its ceiling, ``factor`` times as many rounds replace the measurement.
  package static func measure<Failure: Error>(
    rounds: Int, _ measure: (Int) throws(Failure) -> [GuardedFigure]
  ) throws(Failure) -> (figures: [GuardedFigure], overAtFirst: [GuardedFigure]) {
    let figures = try measure(rounds)
    let over = figures.filter(\.isOver)
    return over.isEmpty ? (figures, []) : (try measure(factor * rounds), over)
  }
}
