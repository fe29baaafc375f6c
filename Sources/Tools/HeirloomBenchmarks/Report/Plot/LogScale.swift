import Foundation

package struct LogScale {
  /// Both ends are above 0.
  package let domain: ClosedRange<Double>
  /// The position of the lowest value, in the plot's units.
  let start: Double
  let end: Double

  /// Includes all positive values; `margin` is the least on either side, as a power of ten.
  package init(values: [Double], margin: Double, from start: Double, to end: Double) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let (least, most) = (positive.min() ?? 1, positive.max() ?? 1)
    domain = least * pow(10, -margin)...most * pow(10, margin)
    (self.start, self.end) = (start, end)
  }

  /// A value beyond the scale is placed at its end.
  package func position(of value: Double) -> Double {
    let (low, high) = (log10(domain.lowerBound), log10(domain.upperBound))
    guard value > 0, high > low else { return start }
    let part = (min(max(log10(value), low), high) - low) / (high - low)
    return start + part * (end - start)
  }

  /// If there are fewer than three powers of ten, also their multiples by two and five.
  package var roundValues: [Double] {
    let powers = Int(log10(domain.lowerBound).rounded(.down))...Int(log10(domain.upperBound).rounded(.up))
    func values(_ factors: [Double]) -> [Double] {
      powers.flatMap { power in factors.map { $0 * pow(10, Double(power)) } }.filter(domain.contains)
    }
    let tens = values([1])
    return tens.count < 3 ? values([1, 2, 5]) : tens
  }

  /// Those of the sorted values whose labels are far enough apart, always with the last one.
  package func spaced(_ values: [Double], by distance: Double) -> [Double] {
    var kept: [Double] = []
    for value in values.reversed() {
      if let next = kept.last, abs(position(of: next) - position(of: value)) < distance { continue }
      kept.append(value)
    }
    return kept.reversed()
  }
}
