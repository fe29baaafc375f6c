/// A second, longer measurement of figures that other work on the machine can spoil, before they count as over.
package enum GuardRepetition {
  /// The factor by which the second measurement has more rounds than the first.
  package static let factor = 3

  /// Measures figures together, and does so again with more rounds if one is over its ceiling.
  ///
  /// - Parameters:
  ///   - rounds: The rounds of the first measurement; a second has ``factor`` times as many, and then it alone counts.
  ///   - measure: A closure that measures in the given number of rounds.
  /// - Returns: The figures that count, and those that were over at first.
  /// - Throws: The closure's error.
  package static func measure<Failure: Error>(
    rounds: Int, _ measure: (Int) throws(Failure) -> [GuardedFigure]
  ) throws(Failure) -> (figures: [GuardedFigure], overAtFirst: [GuardedFigure]) {
    let figures = try measure(rounds)
    let over = figures.filter(\.isOver)
    return over.isEmpty ? (figures, []) : (try measure(factor * rounds), over)
  }
}
