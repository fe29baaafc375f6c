import HeirloomBenchmarks
import Testing

struct PlotTests {
  @Test(arguments: [(10_000.0, 0.0), (100_000, 50), (1_000_000, 100), (1, 0), (1e9, 100), (0, 0), (-1, 0)])
  func `equal ratios are equally far apart, and what is beyond the scale stands at its end`(
    value: Double, position: Double
  ) {
    let scale = LogScale(values: [10_000, 1_000_000, 0, -.infinity, .nan], margin: 0, from: 0, to: 100)
    #expect(abs(scale.position(of: value) - position) < 1e-9)
  }

  @Test(
    arguments: [
      ([0.9, 1200], [1, 10, 100, 1000]), ([12, 90], [10, 20, 50, 100]), ([9, 110], [5, 10, 20, 50, 100, 200]),
      ([3], [2, 5]), ([], [1]),
    ] as [([Double], [Double])])
  func `round values lie within the scale, more of them where there are few powers of ten`(
    values: [Double], expected: [Double]
  ) {
    let scale = LogScale(values: values, margin: 0.3, from: 0, to: 100)
    #expect(scale.roundValues == expected)
  }

  @Test(
    arguments: [
      ([1000, 10_000, 100_000], 40, [1000, 10_000, 100_000]), ([1000, 90_000, 100_000], 40, [1000, 100_000]),
      ([1000, 10_000, 100_000], 60, [1000, 100_000]), ([1000, 10_000, 100_000], 101, [100_000]), ([], 40, []),
    ] as [([Double], Double, [Double])])
  func `labels that would touch are left out, but never that of the last value`(
    values: [Double], distance: Double, expected: [Double]
  ) {
    let scale = LogScale(values: [1000, 100_000], margin: 0, from: 0, to: 100)
    #expect(scale.spaced(values, by: distance) == expected)
  }

  @Test(arguments: [
    ("a < b & \"c\" > d", "a &lt; b &amp; &quot;c&quot; &gt; d"), ("é 漢 × 1", "é 漢 × 1"),
    ("a\u{0}b\u{1B}c\u{FFFE}\nd", "a b c  d"), ("", ""),
  ])
  func `texts can hold anything`(text: String, expected: String) {
    #expect(SVGMarkup.escaped(text) == expected)
  }

  @Test(arguments: [(12.0, "12"), (0.04, "0"), (-0.04, "0"), (3.25, "3.2"), (1234.56, "1234.6")])
  func `coordinates are short`(value: Double, expected: String) {
    #expect(SVGMarkup.number(value) == expected)
  }
}
