import Heirloom

/// The difference of two models for a person and for a program.
struct DifferenceText {
  /// The difference.
  let difference: ModelDifference

  /// The members that every command about a difference has.
  var members: OutputMembers {
    [
      ("verdict", .text(difference.verdict.rawValue)),
      (
        "changes",
        .list(
          difference.changes.map { change in
            .object([
              ("kind", .text(change.kind.rawValue)), ("entity", .optional(change.entity)),
              ("property", .optional(change.property)), ("effect", .text(change.effect.code)),
            ])
          })
      ),
      ("obstacles", .list(difference.obstacles.map(Self.output))),
    ]
  }

  /// An obstacle for a program.
  static func output(_ obstacle: MappingObstacle) -> OutputValue {
    .object([
      ("kind", .text(obstacle.kind.rawValue)), ("entity", .text(obstacle.entity)),
      ("property", .optional(obstacle.property)), ("reason", .text(obstacle.reason)),
      ("suggestion", .text(obstacle.suggestion)),
    ])
  }

  /// What the verdict means, in a sentence without its end.
  var verdictWords: String {
    switch difference.verdict {
    case .identical: "identical, nothing differs"
    case .compatible: "compatible, a store fits both as it is"
    case .lightweight: "lightweight, a migration is needed and its mapping can be inferred"
    case .needsMapping: "needs a mapping, the migration can't be inferred"
    }
  }

  /// The changes grouped by entity: what stands in the way first, then what is lost, then the rest.
  func lines(_ style: TextStyle) -> [String] {
    var lines: [String] = []
    if !difference.obstacles.isEmpty {
      lines += ["", style.bold("What stands in the way:")]
      for obstacle in difference.obstacles {
        lines += ["  \(style.red("✗")) \(obstacle.reason)", "    \(obstacle.suggestion)"]
      }
    }
    let losses = difference.changes.filter { $0.effect == .dropped }
    if !losses.isEmpty {
      lines += ["", style.bold("What is lost (the previous version keeps it):")]
      lines += losses.map { "  \(style.red("−")) \($0.description)" }
    }
    let others = difference.changes.filter { $0.effect != .dropped }
    for (entity, changes) in Self.groups(others) {
      lines += ["", style.bold(entity ?? "The model as a whole") + ":"]
      lines += changes.map { "  \(Self.line($0))" }
    }
    let asked = difference.hazards.filter { $0.kind.severity == .blocker }
    if !asked.isEmpty {
      lines += ["", style.bold("What the rows of a store decide (heirloom plan counts them):")]
      lines += asked.map { "  \(style.yellow("?")) \($0.description)" }
    }
    if !difference.diagnostics.isEmpty {
      lines += ["", style.bold("Perhaps meant otherwise:")]
      lines += difference.diagnostics.map { "  \($0.description)" }
    }
    return lines
  }

  /// Changes in groups of one entity, in their order.
  private static func groups(_ changes: [ModelChange]) -> [(entity: String?, changes: [ModelChange])] {
    var groups: [(entity: String?, changes: [ModelChange])] = []
    for change in changes {
      if let last = groups.indices.last, groups[last].entity == change.entity {
        groups[last].changes.append(change)
      } else {
        groups.append((change.entity, [change]))
      }
    }
    return groups
  }

  /// A change below its entity.
  private static func line(_ change: ModelChange) -> String {
    let subject = change.property.map { "\($0): " } ?? ""
    let effect = change.effect == .nothing ? "" : "; \(change.effect.sentence)"
    return "\(subject)\(change.sentence)\(effect)"
  }
}
