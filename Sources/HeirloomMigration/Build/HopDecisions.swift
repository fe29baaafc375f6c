import HeirloomMapping
import HeirloomStore

extension MigrationHop {
  /// Returns the decisions that are about one of several hops.
  ///
  /// A blocker of one hop may not exist in another, whose versions have other differences.
  ///
  /// - Parameters:
  ///   - decisions: All decisions.
  ///   - index: The number of the hop.
  ///   - hops: All hops.
  /// - Returns: All of them where there is one hop.
  /// - Throws: ``MigrationError/unfitDecision(_:reason:)`` for a decision that is about no hop.
  static func decisions(
    _ decisions: [DataDecision], aboutHop index: Int, of hops: [MigrationHop]
  ) throws(MigrationError) -> [DataDecision] {
    guard hops.count > 1, hops.indices.contains(index) else { return decisions }
    try checkDecisions(decisions, about: hops)
    return decisions.filter { hops[index].objection(to: $0) == nil }
  }

  /// Checks that each decision is about one of several hops.
  ///
  /// - Throws: ``MigrationError/unfitDecision(_:reason:)``.
  package static func checkDecisions(
    _ decisions: [DataDecision], about hops: [MigrationHop]
  ) throws(MigrationError) {
    for decision in decisions {
      var objection: MigrationError?
      for hop in hops {
        objection = hop.objection(to: decision)
        if objection == nil { break }
      }
      if let objection { throw objection }
    }
  }

  /// Returns the reason why a decision is not about the hop; `nil` if it is.
  private func objection(to decision: DataDecision) -> MigrationError? {
    do throws(MigrationError) {
      _ = try DecisionMatching(
        [decision], effects: mapping.effects(from: source, to: destination),
        destination: PhysicalSchema(model: destination))
      return nil
    } catch {
      return error
    }
  }
}
