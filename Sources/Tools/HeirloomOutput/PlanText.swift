package import Heirloom
import HeirloomCompare

package final class PlanText {
  package let plan: MigrationPlan

  package init(plan: MigrationPlan) {
    self.plan = plan
  }

  /// A `nil` plan means an up-to-date store; `seconds` is measured, `nil` reports the estimate.
  package static func members(of plan: MigrationPlan?, seconds: Double? = nil, showsSQL: Bool = false) -> OutputMembers
  {
    let steps = (plan?.hops ?? []).flatMap(\.steps).map { step in
      var members: OutputMembers = [
        ("kind", .text(step.kind.rawValue)), ("subject", .text(step.subject)), ("summary", .text(step.summary)),
        ("rows", .optional(step.rows)),
      ]
      if showsSQL { members.append("sql", .source(step.sql)) }
      return OutputValue.object(members)
    }
    let costs: OutputMembers = [
      ("decisions", .list((plan?.decisions ?? []).map(\.output))),
      ("warnings", .texts((plan?.warnings ?? []) + (plan.map { LaunchTime($0, seconds: seconds).words } ?? []))),
      ("rowsRewritten", .integer(plan?.rowsRewritten ?? 0)),
      ("bytesNeeded", .integer(plan?.bytesNeeded ?? 0)),
      ("bytesReserved", .integer(plan == nil ? 0 : MigrationPlan.bytesReserved)),
      ("seconds", .number(seconds ?? plan.map { $0.estimatedDuration / .seconds(1) } ?? 0)),
      ("builder", .optional(plan?.builder.rawValue)),
      ("deferred", .texts(plan?.deferred.items ?? [])), ("configuration", .optional(plan?.configuration)),
    ]
    return [("steps", .list(steps))] + findingMembers(of: plan) + costs
  }

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

  package static func lossMembers(of plan: MigrationPlan?) -> OutputMembers {
    let losses = (plan?.losses ?? []).map { loss in
      OutputValue.object([
        ("kind", .text(loss.kind.reported.rawValue)), ("entity", .text(loss.entity)),
        ("property", .optional(loss.property)),
        ("rows", .integer(loss.rows)), ("links", .optional(loss.links)), ("consented", .boolean(loss.consent != nil)),
        ("consent", .optional(loss.consent?.rawValue)),
      ])
    }
    return [("losses", .list(losses))]
  }

  /// `nil` without consent.
  package static func words(_ consent: LossConsent?) -> String? {
    switch consent {
    case .decision: "by decision"
    case .delegate: "the app agreed"
    case .configuration: "accepted"
    case .lock: "acknowledged in the history's lock"
    default: nil
    }
  }

  /// `difference` adds suspected renames; `nil` leaves them out.
  package func findings(_ style: TextStyle, difference: DifferenceText?) -> [String] {
    let destination = plan.hops.last?.destination ?? plan.destination
    let declared = difference ?? DifferenceText(ModelDifference(from: plan.source, to: destination))
    var lines = ["", style.bold("What stays:")] + Self.rowLines(plan.rowsOfAllHops)
    lines += ["", style.bold(plan.losses.isEmpty ? "Nothing is lost." : DifferenceText.lossTitle)]
    // Losses are in hop order; those of one entity are put together.
    var losses: [MigrationLoss] = []
    for loss in plan.losses where !losses.contains(where: { $0.entity == loss.entity }) {
      losses += plan.losses.filter { $0.entity == loss.entity }
    }
    lines += DifferenceText.sections(losses, by: \.entity, style) { loss in
      style.red("− \(loss.amount): \(loss.reason)") + " (\(Self.words(loss.consent) ?? "needs consent"))"
    }
    lines += declared.renamedLines(style) + (difference?.renameLines(style) ?? [])
    let sign = style.red("✗")
    var words = plan.blockers.flatMap {
      ["  \(sign) \(counted($0.rows, "row")): \($0.reason)", "      \($0.optionText(in: plan))"]
    }
    let open = plan.unconsentedLosses.count
    if open > 0 {
      let needs = open == 1 ? "1 loss above needs" : "\(open) losses above need"
      words.append("  \(sign) \(needs) consent, or a mapping that keeps the content")
    }
    if !words.isEmpty { lines += ["", style.bold("What you must decide:")] + words }
    if !plan.decisions.isEmpty {
      lines += ["", style.bold("What was decided:")] + plan.decisions.map { "  \($0.words)" }
    }
    if !plan.warnings.isEmpty {
      lines += ["", style.bold("What may surprise you:")]
      lines += plan.warnings.map { "  \(style.yellow("!")) \(sentence($0))" }
    }
    return lines
  }

  /// Entities without objects on both sides are only counted.
  private static func rowLines(_ rows: [EntityRows]) -> [String] {
    let shown = rows.filter { $0.before ?? 0 > 0 || $0.after ?? 0 > 0 }
    guard !shown.isEmpty else { return ["  no objects"] }
    var table = TextTable(header: ["Entity", "before", "after"], alignments: [.left, .right, .right])
    for row in shown {
      table.add([row.entity, row.before.map(grouped) ?? "–", row.after.map(grouped) ?? "–"])
    }
    let empty = rows.count - shown.count
    return table.lines() + (empty > 0 ? ["  and \(counted(Int64(empty), "entity")) without objects"] : [])
  }

  /// Consecutive steps of one kind that write no rows share a line.
  package func steps(_ style: TextStyle) -> [String] {
    let way =
      switch plan.builder {
      case .rebuild: "a new file"
      case .cloneAndAlter: "a copy of the store"
      }
    let rows = "\(counted(plan.rowsRewritten, "row")) \(plan.rowsRewritten == 1 ? "is" : "are") rewritten"
    return ["", style.bold("Steps, in \(way) (\(plan.builder.rawValue)); \(rows):")]
      + zip(1..., stepTexts).map { "  \($0). \($1)" }
  }

  /// Objects dropped only to be rebuilt, such as the store's own bookkeeping, are listed only once.
  package var stepTexts: [String] {
    var texts: [String] = []
    let made = Set(plan.steps.filter { $0.kind != .dropObject }.map(\.subject)).union([
      PhysicalName.primaryKeyTable, PhysicalName.metadataTable, PhysicalName.modelCacheTable,
    ])
    var rest = plan.steps.filter { $0.kind != .dropObject || !made.contains($0.subject) }[...]
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

  /// Each under the step's summary as a comment.
  package var sql: String {
    plan.hops.flatMap(\.steps).map { TerminalText.line("-- \($0.summary)") + "\n\($0.sql)\n" }.joined()
  }

  package func costs(_ style: TextStyle) -> [String] {
    [
      "It takes about \(durationText(plan.estimatedDuration / .seconds(1))) and \(spaceWords)."
    ] + LaunchTime(plan).words.map { "\(style.yellow("!")) \($0)" }
  }

  package var spaceWords: String {
    "\(sizeText(plan.bytesNeeded - MigrationPlan.bytesReserved)) of free space; another \(sizeText(MigrationPlan.bytesReserved))"
      + " must stay free for everything else"
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
    case .decideRows: "Carry out the decisions in"
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
