/// A second, longer measurement of a figure that other work on the machine can spoil, before it counts as over.
package enum GuardRepetition {
  /// The factor by which the second measurement has more rounds than the first.
  package static let factor = 3

  /// Measures a figure, and does so again with more rounds if it is over its ceiling.
  ///
  /// - Parameters:
  ///   - rounds: The rounds of the first measurement; a second has ``factor`` times as many, and then it alone counts.
  ///   - measure: A closure that measures in the given number of rounds.
  /// - Returns: The figure that counts, and the one that was over at first.
  /// - Throws: The closure's error.
  package static func measure<Failure: Error>(
    rounds: Int, _ measure: (Int) throws(Failure) -> GuardedFigure
  ) throws(Failure) -> (figure: GuardedFigure, first: GuardedFigure?) {
    let figure = try measure(rounds)
    guard figure.isOver else { return (figure, nil) }
    return (try measure(factor * rounds), figure)
  }
}
