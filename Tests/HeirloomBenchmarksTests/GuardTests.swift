import HeirloomBenchmarks
import Testing

struct GuardTests {
  @Test(arguments: [
    (1.0, 1.2, false), (1.2, 1.2, false), (1.21, 1.2, true), (Double.nan, 1.2, true), (Double.infinity, 1.2, true),
    (0, 0, false), (1, 0, true), (-0.1, 0.1, false),
  ])
  func `a figure is over if it is higher than its ceiling, or no number`(
    measured: Double, ceiling: Double, isOver: Bool
  ) {
    let figure = GuardedFigure("W1", measured, atMost: ceiling, .times)
    #expect(figure.isOver == isOver)
    #expect((figure.marginLeft < 0) == isOver || measured.isNaN)
  }

  @Test(arguments: [
    (GuardedFigure("W1", 1.3, atMost: 1.2, .times), "W1: 1.30 × was measured, at most 1.20 × is allowed."),
    (
      GuardedFigure("peak", 50 * 1_048_576, atMost: 44 * 1_048_576, .bytes),
      "peak: 50.0 MB was measured, at most 44.0 MB is allowed."
    ),
    (GuardedFigure("growth", 0.123, atMost: 0.1, .part), "growth: 12.3 % was measured, at most 10.0 % is allowed."),
    (
      GuardedFigure("launch", 14_270_000, atMost: 13e6, .instructions),
      "launch: 14.27 M instructions was measured, at most 13.00 M instructions is allowed."
    ),
    (GuardedFigure("syncs", 14, atMost: 13, .count), "syncs: 14 was measured, at most 13 is allowed."),
  ])
  func `a figure that is over says what was measured and what is allowed`(figure: GuardedFigure, sentence: String) {
    #expect(figure.isOver)
    #expect(figure.sentence == sentence)
  }

  @Test(arguments: [
    // A goal that is not met yet fails nothing.
    (GuardedFigure("W1", 1.3, atMost: 1.5, .times, goal: 1.2), ["W1", "1.30 ×", "1.50 ×", "13 %", "1.20 ×"]),
    (GuardedFigure("W1", 1.2, atMost: 1.5, .times, goal: 1.2), ["W1", "1.20 ×", "1.50 ×", "20 %", "1.20 ×, met"]),
    (GuardedFigure("W1", 1.6, atMost: 1.5, .times, goal: 1.2), ["W1", "1.60 ×", "1.50 ×", "OVER", "1.20 ×"]),
    (
      GuardedFigure("store", 0.0083, atMost: .infinity, .seconds, goal: 0.002),
      ["store", "8.30 ms", "-", "-", "2.00 ms"]
    ),
    (GuardedFigure("syncs", 14, atMost: 16, .count), ["syncs", "14", "16", "12 %", "-"]),
  ])
  func `a line shows a figure beside its ceiling and its goal`(figure: GuardedFigure, cells: [String]) {
    #expect(figure.cells == cells)
    #expect(figure.isOver == (cells[3] == "OVER"))
  }

  @Test(arguments: [
    // Each row has the results of the two measurements, the expected rounds, and those that count.
    ([[1.1, 0.9], [9, 9]], [5], [1.1, 0.9]), ([[1.3, 0.9], [1.1, 1]], [5, 15], [1.1, 1]),
    ([[1.1, 1.3], [1.1, 1.25]], [5, 15], [1.1, 1.25]),
  ])
  func `figures of which one is over are measured again once, with more rounds`(
    values: [[Double]], expectedRounds: [Int], counting: [Double]
  ) {
    var rounds: [Int] = []
    let (figures, overAtFirst) = GuardRepetition.measure(rounds: 5) { count in
      rounds.append(count)
      return values[rounds.count - 1].map { GuardedFigure("W1", $0, atMost: 1.2, .times) }
    }
    #expect(rounds == expectedRounds)
    #expect(figures.map(\.measured) == counting)
    #expect(overAtFirst.map(\.measured) == (expectedRounds.count == 2 ? values[0].filter { $0 > 1.2 } : []))
  }
}
