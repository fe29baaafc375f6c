import Heirloom
package import HeirloomCompare

/// Counts from stores about a suspected rename, never values.
package struct RenameEvidence {
  /// Of the entity and its subentities, in the store.
  package let objects: Int64
  /// Those of the objects that would lose content.
  package let values: Int64
  /// The reasons why a rename wouldn't fit, in clauses.
  package var misfits: [String] = []
  /// Objects with a value that were compared with the later store; `nil` without one.
  package var compared: Int64?
  /// Those with equal values in both stores.
  package var equal: Int64?

  package init(objects: Int64, values: Int64) {
    self.objects = objects
    self.values = values
  }

  /// `nil` if no objects were compared.
  package var equalShare: Double? {
    guard let compared, let equal, compared > 0 else { return nil }
    return Double(equal) / Double(compared)
  }

  package func words(_ suspicion: RenameSuspicion) -> String {
    var words: String
    if suspicion.kind == .entity {
      words = "Otherwise \(counted(objects, "object")) of \"\(suspicion.removed)\" \(verb("are", objects)) dropped."
    } else {
      words =
        "Otherwise \(grouped(values)) of \(counted(objects, "object")) \(verb("lose", values))"
        + " \(values == 1 ? "its" : "their") \(suspicion.kind == .relationship ? "link" : "value")."
    }
    if let share = equalShare, let compared {
      words += " Of \(counted(compared, "object")) that both stores have, \(Self.percent(share)) hold the same in both"
      words += share >= 0.9 ? ": it looks like a rename." : share <= 0.1 ? ": it doesn't look like a rename." : "."
    }
    return words + misfits.map { " \(sentence($0))" }.joined()
  }

  /// Rounded down, because 100 must mean all.
  private static func percent(_ share: Double) -> String { "\(Int32(share * 100)) %" }
}
