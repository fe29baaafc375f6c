import HeirloomMapping
import HeirloomStore

/// Decisions, with the findings that were counted without them.
struct DecisionDraft {
  /// The values that rows get.
  private(set) var values = DecidedValues()
  private let matching: DecisionMatching
  private let hazards: [DataHazard]
  private let found: [MigrationBlocker]

  /// Matches decisions with the findings.
  ///
  /// - Throws: ``MigrationError/unfitDecision(_:reason:)``.
  init(
    _ decisions: [DataDecision], hazards: [DataHazard], findings: [StoreQuestions.Finding], destination: PhysicalSchema
  ) throws(MigrationError) {
    self.hazards = hazards
    found = findings.compactMap { if case .blocker(let blocker) = $0 { blocker } else { nil } }
    matching = try DecisionMatching(decisions, hazards: hazards, destination: destination)
    for (hazard, decision) in decidedHazards {
      guard case .fill(let value) = matching.decisions[decision].choice else { continue }
      values.fill(hazard, with: value)
    }
  }

  /// The decisions, in the order in which they were given.
  var decisions: [DataDecision] { matching.decisions }

  /// The blockers with rows, with the number of the decision about each.
  var decidedHazards: [(hazard: DataHazard, decision: Int)] {
    hazards.compactMap { hazard in
      guard found.contains(where: { $0.isAbout(hazard) }),
        let decision = matching.decision(about: hazard.kind, of: hazard.entity, hazard.properties)
      else { return nil }
      return (hazard, decision)
    }
  }

  /// True when rows change by decision.
  var isActive: Bool { !decidedHazards.isEmpty }

  /// Works out the changes that the decisions make to the rows of a candidate.
  func settlement(
    of parts: CandidateParts, routing: EntityRouting, questions: HazardQuestions, connection: Connection
  ) throws -> RowSettlement {
    guard !matching.decisions.isEmpty else {
      var settlement = RowSettlement()
      settlement.blockers = found
      return settlement
    }
    var planner = DecisionPlanner(
      matching: matching, parts: parts, routing: routing, questions: questions, hazards: hazards,
      decidedHazards: decidedHazards, found: found, connection: connection)
    return try planner.settlement(values: values)
  }
}
