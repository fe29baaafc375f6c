package import Heirloom

/// What the rows of stores say of a rename that is suspected: counts, never a value.
package struct RenameEvidence {
  /// The objects in the store, of the entity and its subentities.
  package let objects: Int64
  /// Those of them that have something to lose.
  package let values: Int64
  /// What would not fit if it were a rename, in clauses.
  package var misfits: [String] = []
  /// The objects that have a value here and are in the other store as well; `nil` if there is none to compare with.
  package var compared: Int64?
  /// Those of them that have the same value there.
  package var equal: Int64?

  /// Creates evidence of counts alone.
  package init(objects: Int64, values: Int64) {
    self.objects = objects
    self.values = values
  }

  /// The share of objects with the same value in both stores; `nil` if there are none to compare.
  package var equalShare: Double? {
    guard let compared, let equal, compared > 0 else { return nil }
    return Double(equal) / Double(compared)
  }

  /// What the counts come to, in sentences.
  package func words(_ suspicion: RenameSuspicion) -> String {
    var words: String
    if suspicion.kind == .entity {
      words = "Otherwise \(counted(objects, "object")) of \"\(suspicion.removed)\" are dropped."
    } else {
      words =
        "Otherwise \(grouped(values)) of \(counted(objects, "object")) lose their"
        + " \(suspicion.kind == .relationship ? "link" : "value")."
    }
    if let share = equalShare, let compared {
      words += " Of \(counted(compared, "object")) that both stores have, \(Self.percent(share)) hold the same in both"
      words += share >= 0.9 ? ": it looks like a rename." : share <= 0.1 ? ": it doesn't look like a rename." : "."
    }
    return words + misfits.map { " \(sentence($0))" }.joined()
  }

  /// A share in whole percent, rounded down so that 100 means all.
  private static func percent(_ share: Double) -> String { "\(Int(share * 100)) %" }
}
