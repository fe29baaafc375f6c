/// A figure that other work on the machine can spoil: measured again, longer, before it counts as over.
package enum GuardRepetition {
  /// How many times the rounds of the first measurement the second has.
  package static let factor = 3

  /// Measures a figure, and once more with more rounds if it is over its ceiling.
  ///
  /// - Parameters:
  ///   - rounds: The rounds of the first measurement; a second has ``factor`` times as many, and alone counts then.
  ///   - measure: Measures in so many rounds.
  /// - Returns: The figure that counts, and the one that was over at first.
  /// - Throws: What the closure throws.
  package static func measure<Failure: Error>(
    rounds: Int, _ measure: (Int) throws(Failure) -> GuardedFigure
  ) throws(Failure) -> (figure: GuardedFigure, first: GuardedFigure?) {
    let figure = try measure(rounds)
    guard figure.isOver else { return (figure, nil) }
    return (try measure(factor * rounds), figure)
  }
}
