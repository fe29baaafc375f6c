/// A second, longer measurement of figures that exceed their ceilings, since other load on the machine affects them.
package enum GuardRepetition {
  /// The factor by which the second measurement has more rounds.
  package static let factor = 3

  /// Measures figures, and repeats the measurement with more rounds if one exceeds its ceiling.
  ///
  /// A second measurement has ``factor`` times as many rounds and replaces the first. Returns the valid figures, and
  /// those that exceeded their ceilings at first.
  package static func measure<Failure: Error>(
    rounds: Int, _ measure: (Int) throws(Failure) -> [GuardedFigure]
  ) throws(Failure) -> (figures: [GuardedFigure], overAtFirst: [GuardedFigure]) {
    let figures = try measure(rounds)
    let over = figures.filter(\.isOver)
    return over.isEmpty ? (figures, []) : (try measure(factor * rounds), over)
  }
}
