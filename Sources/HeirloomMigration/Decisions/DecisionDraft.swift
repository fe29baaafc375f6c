import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Decisions, with the findings that were counted without them.
struct DecisionDraft {
  private(set) var values = DecidedValues()
  private let matching: DecisionMatching
  private let effects: [DataEffect]
  private let found: [MigrationBlocker]
  /// The numbers of rows to which expressions give a value.
  private let computed: [(effect: DataEffect, rows: Int64)]

  init(
    _ decisions: [DataDecision], effects: [DataEffect], findings: [StoreQuestions.Finding],
    computed: ComputedValues, destination: ManagedObjectModel
  ) {
    self.effects = effects
    self.computed = findings.compactMap { if case .computed(let effect, let rows) = $0 { (effect, rows) } else { nil } }
    values.computed = computed
    found = findings.compactMap { if case .blocker(let blocker) = $0 { blocker } else { nil } }
    matching = DecisionMatching(decisions, effects: effects, destination: destination)
    for (effect, decision) in decidedBlockers {
      guard case .fill(let value) = matching.decisions[decision].choice else { continue }
      values.fill(effect, with: value)
    }
  }

  var decisions: [DataDecision] { matching.decisions }

  /// Blockers with rows; each `decision` is an index of `decisions`.
  var decidedBlockers: [(effect: DataEffect, decision: Int)] {
    effects.compactMap { effect in
      guard found.contains(where: { $0.isAbout(effect) }),
        let decision = matching.decision(about: effect.kind, of: effect.entity, effect.properties)
      else { return nil }
      return (effect, decision)
    }
  }

  var isActive: Bool { !decidedBlockers.isEmpty || !values.computed.isEmpty }

  func rowDecisions(
    of parts: CandidateParts, questions: EffectQuestions, connection: Connection
  ) throws -> RowDecisions {
    guard !matching.decisions.isEmpty else {
      var rowDecisions = RowDecisions()
      rowDecisions.blockers = found
      return rowDecisions
    }
    let planner = DecisionPlanner(
      matching: matching, parts: parts, questions: questions, effects: effects,
      decidedBlockers: decidedBlockers, found: found, computed: computed, connection: connection)
    return try planner.rowDecisions(values: values)
  }
}
