import Foundation

/// A logarithmic scale: equal ratios of values are equally far apart.
package struct LogScale {
  /// The least and the highest value on the scale, both above 0.
  package let domain: ClosedRange<Double>
  /// The position of the least value, in the plot's units.
  let start: Double
  /// The position of the highest value.
  let end: Double

  /// Creates a scale that has room for values.
  ///
  /// - Parameters:
  ///   - values: The values to be shown; those that are not above 0 are left out.
  ///   - margin: The least room on either side, as a power of ten.
  ///   - start: The position where the scale begins.
  ///   - end: The position where it ends.
  package init(values: [Double], margin: Double, from start: Double, to end: Double) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let (least, most) = (positive.min() ?? 1, positive.max() ?? 1)
    domain = least * pow(10, -margin)...most * pow(10, margin)
    (self.start, self.end) = (start, end)
  }

  /// Returns the position of a value; one beyond the scale is put at its end.
  package func position(of value: Double) -> Double {
    let (low, high) = (log10(domain.lowerBound), log10(domain.upperBound))
    guard value > 0, high > low else { return start }
    let part = (min(max(log10(value), low), high) - low) / (high - low)
    return start + part * (end - start)
  }

  /// The powers of ten on the scale; with fewer than three of them, their doubles and fives too.
  package var roundValues: [Double] {
    let powers = Int(log10(domain.lowerBound).rounded(.down))...Int(log10(domain.upperBound).rounded(.up))
    func values(_ factors: [Double]) -> [Double] {
      powers.flatMap { power in factors.map { $0 * pow(10, Double(power)) } }.filter(domain.contains)
    }
    let tens = values([1])
    return tens.count < 3 ? values([1, 2, 5]) : tens
  }

  /// Returns the values, in their order, whose labels have room beside each other.
  ///
  /// - Parameters:
  ///   - values: The values, sorted.
  ///   - distance: The least distance between two labels.
  /// - Returns: The last value, and those others that don't come too near to the next one.
  package func spaced(_ values: [Double], by distance: Double) -> [Double] {
    var kept: [Double] = []
    for value in values.reversed() {
      if let next = kept.last, abs(position(of: next) - position(of: value)) < distance { continue }
      kept.append(value)
    }
    return kept.reversed()
  }
}
