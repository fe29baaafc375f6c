package import Heirloom

/// A migration's plan for a person and for a program.
package struct PlanText {
  /// The plan.
  package let plan: MigrationPlan

  /// Creates the text of a plan.
  package init(plan: MigrationPlan) {
    self.plan = plan
  }

  /// The members of a plan; those of none if there is nothing to do.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - seconds: The time that was measured; `nil` for the estimate.
  ///   - showsSQL: Whether steps have their SQL.
  /// - Returns: The members.
  package static func members(of plan: MigrationPlan?, seconds: Double? = nil, showsSQL: Bool = false) -> OutputMembers
  {
    let steps = (plan?.steps ?? []).map { step in
      var members: OutputMembers = [
        ("kind", .text(step.kind.rawValue)), ("subject", .text(step.subject)), ("summary", .text(step.summary)),
        ("rows", .optional(step.rows)),
      ]
      if showsSQL { members.append("sql", .source(step.sql)) }
      return OutputValue.object(members)
    }
    let costs: OutputMembers = [
      ("decisions", .list((plan?.allDecisions ?? []).map(\.output))),
      ("warnings", .texts((plan?.warnings ?? []) + (plan.map { LaunchTime($0, seconds: seconds).words } ?? []))),
      ("rowsRewritten", .integer(plan?.rowsRewritten ?? 0)),
      ("bytesNeeded", .integer(plan?.bytesNeeded ?? 0)),
      ("seconds", .number(seconds ?? plan?.estimatedSeconds ?? 0)), ("builder", .optional(plan?.builder.rawValue)),
      ("deferred", .texts(plan?.deferred.items ?? [])), ("configuration", .optional(plan?.configuration)),
    ]
    return [("steps", .list(steps))] + findingMembers(of: plan) + costs
  }

  /// What a plan found in the rows.
  package static func findingMembers(of plan: MigrationPlan?) -> OutputMembers {
    let blockers = (plan?.blockers ?? []).map { blocker in
      OutputValue.object([
        ("kind", .text(blocker.kind)), ("entity", .text(blocker.entity)), ("property", .optional(blocker.property)),
        ("reason", .text(blocker.reason)), ("rows", .integer(blocker.rows)),
        ("choices", .texts(blocker.choices.map(\.rawValue))),
      ])
    }
    return lossMembers(of: plan) + [("blockers", .list(blockers))]
  }

  /// The losses of a plan, with who consented.
  package static func lossMembers(of plan: MigrationPlan?) -> OutputMembers {
    let losses = (plan?.allLosses ?? []).map { loss in
      OutputValue.object([
        ("kind", .text(loss.kind.rawValue)), ("entity", .text(loss.entity)), ("property", .optional(loss.property)),
        ("rows", .integer(loss.rows)), ("consented", .boolean(loss.consent != nil)),
        ("consent", .optional(loss.consent?.rawValue)),
      ])
    }
    return [("losses", .list(losses))]
  }

  /// Who consented to a loss, in words; `nil` if nobody did.
  package static func words(_ consent: LossConsent?) -> String? {
    switch consent {
    case .decision: "by decision"
    case .delegate: "the app agreed"
    case .configuration: "accepted"
    case .lock: "acknowledged in the history's lock"
    default: nil
    }
  }

  /// What is lost first, then what stands in the way and what may surprise, counted.
  ///
  /// - Parameters:
  ///   - style: How text is set.
  ///   - difference: What differs between the models, for renames that are suspected.
  /// - Returns: The lines.
  package func findings(_ style: TextStyle, difference: DifferenceText?) -> [String] {
    var lines = ["", style.bold(plan.allLosses.isEmpty ? "Nothing is lost." : DifferenceText.lossTitle)]
    // Hops lose one after the other: what an entity loses stands together all the same.
    var losses: [MigrationLoss] = []
    for loss in plan.allLosses where !losses.contains(where: { $0.entity == loss.entity }) {
      losses += plan.allLosses.filter { $0.entity == loss.entity }
    }
    lines += DifferenceText.sections(losses, by: \.entity, style) { loss in
      style.red("− \(counted(loss.rows, "row")): \(loss.reason)") + (Self.words(loss.consent).map { " (\($0))" } ?? "")
    }
    lines += difference?.renameLines(style) ?? []
    if !plan.blockers.isEmpty {
      lines += ["", style.bold("What stands in the way:")]
      for blocker in plan.blockers {
        lines.append("  \(style.red("✗")) \(counted(blocker.rows, "row")): \(blocker.reason)")
        lines.append("      \(blocker.optionText)")
      }
    }
    if !plan.allDecisions.isEmpty {
      lines += ["", style.bold("What was decided:")] + plan.allDecisions.map { "  \($0.words)" }
    }
    if !plan.warnings.isEmpty {
      lines += ["", style.bold("What may surprise:")]
      lines += plan.warnings.map { "  \(style.yellow("!")) \(sentence($0))" }
    }
    return lines
  }

  /// The objects of each entity before and after.
  ///
  /// - Parameter rows: The counts.
  /// - Returns: A table; entities without objects on both sides are counted only.
  package static func rowLines(_ rows: [EntityRows]) -> [String] {
    let shown = rows.filter { $0.before ?? 0 > 0 || $0.after ?? 0 > 0 }
    guard !shown.isEmpty else { return ["  no objects"] }
    var table = TextTable(header: ["Entity", "before", "after"], alignments: [.left, .right, .right])
    for row in shown {
      table.add([row.entity, row.before.map(grouped) ?? "–", row.after.map(grouped) ?? "–"])
    }
    let empty = rows.count - shown.count
    return table.lines() + (empty > 0 ? ["  and \(counted(Int64(empty), "entity")) without objects"] : [])
  }

  /// The steps in order; those of one kind that write no rows share a line.
  package func steps(_ style: TextStyle) -> [String] {
    ["", style.bold("Steps:")] + zip(1..., stepTexts).map { "  \($0). \($1)" }
  }

  /// A phrase for each step, or for several of one kind.
  package var stepTexts: [String] {
    var texts: [String] = []
    var rest = plan.steps[...]
    while let first = rest.first {
      let run = rest.prefix { $0.kind == first.kind }
      rest = rest.dropFirst(run.count)
      texts += run.filter { $0.rows ?? 0 > 0 }.map { "\($0.summary) (\(counted($0.rows ?? 0, "row")))" }
      let others = run.filter { $0.rows ?? 0 == 0 }
      guard let other = others.first else { continue }
      let subjects = listText(others.map(\.subject), limit: 6)
      let empty = other.rows == nil ? "" : " (without rows)"
      texts.append(others.count == 1 ? other.summary + empty : "\(Self.words(other.kind)) \(subjects)\(empty)")
    }
    return texts
  }

  /// The statements of all steps, each step under its summary as a comment.
  package var sql: String {
    plan.steps.map { TerminalText.line("-- \($0.summary)") + "\n\($0.sql)\n" }.joined()
  }

  /// What the migration takes, and what to do where that is too long for a launch.
  package func costs(_ style: TextStyle) -> [String] {
    let way =
      switch plan.builder {
      case .rebuild: "into a new file"
      case .cloneAndAlter: "in a copy of the store"
      }
    return [
      "\(counted(plan.rowsRewritten, "row")) \(plan.rowsRewritten == 1 ? "is" : "are") written anew, \(way)"
        + " (\(plan.builder.rawValue)). It takes about \(durationText(plan.estimatedSeconds)) and"
        + " \(sizeText(plan.bytesNeeded)) of free space."
    ] + LaunchTime(plan).words.map { "\(style.yellow("!")) \($0)" }
  }

  private static func words(_ kind: MigrationStep.Kind) -> String {
    switch kind {
    case .createTable: "Make the tables"
    case .keepRows: "Keep the rows of"
    case .changeRows: "Change in place the rows of"
    case .alterSchema: "Change the definitions in"
    case .dropObject: "Drop"
    case .createIndex: "Make the indexes"
    case .createTrigger: "Make the triggers"
    case .findRows: "Find the rows that decisions are about in"
    case .settleRows: "Carry out the decisions in"
    case .computeDerived: "Compute the derived attributes"
    case .copyObject: "Copy what no model knows:"
    case .copyRows: "Copy the rows of"
    case .gatherLinks: "Gather the links of"
    case .copyLinks: "Copy the links of"
    case .orderMembers: "Number the members of"
    case .runMappings: "Run object by object"
    case .writeMetadata: "Write"
    case .leaveForLater: "Leave for later"
    }
  }
}
