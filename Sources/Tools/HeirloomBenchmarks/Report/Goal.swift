struct Goal: Hashable, Codable {
  let subject: String
  let measured: Double?
  let unit: FigureUnit
  var most: Double?
  var least: Double?
  /// False if the goal is for something larger: a store of more notes, or a whole migration.
  let isBinding: Bool
  /// `nil` without a measured value or without a bound.
  let isMet: Bool?

  init(
    _ subject: String, _ measured: Double?, _ unit: FigureUnit, atMost most: Double? = nil,
    atLeast least: Double? = nil, isBinding: Bool = true
  ) {
    (self.subject, self.measured, self.unit, self.isBinding) = (subject, measured, unit, isBinding)
    (self.most, self.least) = (most, least)
    isMet = measured.flatMap { measured in most.map { measured <= $0 } ?? least.map { measured >= $0 } }
  }

  var cells: [String] {
    let bound = most.map { "at most \(unit.text($0))" } ?? least.map { "at least \(unit.text($0))" }
    return [measured.map(unit.text) ?? "?", bound ?? "-", verdict]
  }

  private var verdict: String {
    guard let measured, let isMet, let bound = most ?? least else { return "" }
    let text = isMet ? "met" : "missed by \(FigureUnit.part.text(abs(measured / bound - 1)))"
    return isBinding ? text : "(\(text))"
  }
}
