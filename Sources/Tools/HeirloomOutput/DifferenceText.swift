package import Heirloom
package import HeirloomCompare

package struct DifferenceText {
  package let difference: ModelDifference
  /// From stores, about suspected renames.
  package let evidence: [RenameSuspicion: RenameEvidence]
  /// Source locations, by `Entity` and `Entity.property`.
  package var places: [String: String] = [:]

  package init(_ difference: ModelDifference, evidence: [RenameSuspicion: RenameEvidence] = [:]) {
    self.difference = difference
    self.evidence = evidence
  }

  /// In the JSON of every command about a difference.
  package var members: OutputMembers {
    [
      ("verdict", .text(difference.verdict.rawValue)),
      (
        "changes",
        .list(
          difference.changes.map { change in
            .object([
              ("kind", .text(change.kind.rawValue)), ("entity", .optional(change.entity)),
              ("property", .optional(change.property)), ("effect", .text(change.effect.code)),
              ("place", .optional(place(of: change))),
            ])
          })
      ),
      ("obstacles", .list(difference.obstacles.map(Self.output))),
      ("renames", .list(difference.renames.map(output))),
    ]
  }

  package static func output(_ obstacle: MappingObstacle) -> OutputValue {
    .object([
      ("kind", .text(obstacle.kind.rawValue)), ("entity", .text(obstacle.entity)),
      ("property", .optional(obstacle.property)), ("reason", .text(obstacle.reason)),
      ("suggestion", .text(obstacle.suggestion)),
    ])
  }

  /// Counts without a store are null.
  private func output(_ suspicion: RenameSuspicion) -> OutputValue {
    let evidence = evidence[suspicion]
    return .object([
      ("kind", .text(suspicion.kind.rawValue)), ("entity", .text(suspicion.entity)),
      ("sourceEntity", .text(suspicion.sourceEntity)), ("removed", .text(suspicion.removed)),
      ("added", .text(suspicion.added)), ("alternatives", .texts(suspicion.alternatives)),
      ("rivals", .texts(suspicion.rivals)), ("type", .text(suspicion.type)),
      ("nameSimilarity", .number(Self.rounded(suspicion.nameSimilarity))),
      ("score", .number(Self.rounded(suspicion.score))),
      ("renamingIdentifier", .text(suspicion.renamingIdentifier)), ("objects", .optional(evidence?.objects)),
      ("values", .optional(evidence?.values)), ("compared", .optional(evidence?.compared)),
      ("equal", .optional(evidence?.equal)), ("misfits", .texts(evidence?.misfits ?? [])),
    ])
  }

  private static func rounded(_ share: Double) -> Double { (share * 100).rounded() / 100 }

  /// A sentence without its full stop.
  package var verdictWords: String {
    switch difference.verdict {
    case .identical: "identical, nothing differs"
    case .compatible: "compatible, a store fits both as it is"
    case .lightweight: "lightweight, a migration is needed and its mapping can be inferred"
    case .needsMapping: "needs a mapping, the migration can't be inferred"
    }
  }

  /// Losses, suspected renames, obstacles, questions about rows, diagnostics, then other changes.
  package func lines(_ style: TextStyle) -> [String] {
    var lines: [String] = []
    let losses = difference.changes.filter { $0.effect == .dropped }
    if !losses.isEmpty {
      lines += ["", style.bold(Self.lossTitle)]
      lines += Self.sections(losses, by: \.entity, style) { style.red("− \(line($0))") }
    }
    lines += renameLines(style)
    if !difference.obstacles.isEmpty {
      lines += ["", style.bold("What stands in the way:")]
      for obstacle in difference.obstacles {
        lines += ["  \(style.red("✗")) \(obstacle.reason)", "    \(obstacle.suggestion)"]
        lines += obstacle.optionText.map { ["      \($0)"] } ?? []
      }
    }
    let asked = difference.effects.filter { $0.kind.severity == .blocker }
    if !asked.isEmpty {
      lines += ["", style.bold("What depends on the rows of a store (heirloom plan counts them):")]
      lines += asked.map { "  \(style.yellow("?")) \($0.description)" }
    }
    let odd = difference.diagnostics.filter { $0.kind != .suspectedRename }
    if !odd.isEmpty {
      lines += ["", style.bold("Perhaps meant otherwise:")] + odd.map { "  \(style.yellow("?")) \($0.description)" }
    }
    let others = difference.changes.filter { $0.effect != .dropped }
    if !others.isEmpty {
      lines += ["", style.bold("What changes besides:")]
      lines += Self.sections(others, by: \.entity, style) { line($0) }
    }
    return lines
  }

  /// Those declared by renaming identifiers.
  package func renamedLines(_ style: TextStyle) -> [String] {
    let renamed = renamed
    guard !renamed.isEmpty else { return [] }
    return ["", style.bold("What is renamed:")] + Self.sections(renamed, by: \.entity, style) { line($0) }
  }

  /// Those that the models declare.
  package var renamed: [ModelChange] {
    difference.changes.filter {
      [.entityRenamed, .attributeRenamed, .elementRenamed, .relationshipRenamed].contains($0.kind)
    }
  }

  /// Suspected renames, each with advice and evidence.
  package func renameLines(_ style: TextStyle) -> [String] {
    let suspicions = difference.renames
    guard !suspicions.isEmpty else { return [] }
    return ["", style.bold("Perhaps renamed (nothing is done about it unless the model says so):")]
      + Self.sections(suspicions, by: { $0.kind == .entity ? nil : $0.entity }, style) { suspicion in
        style.yellow("? \(sentence(suspicion.question))")
      } more: {
        advice(on: $0)
      }
  }

  package func advice(on suspicion: RenameSuspicion) -> [String] {
    let otherwise = suspicion.kind == .entity ? "its objects are" : "its content is"
    let advice = places.isEmpty ? suspicion.advice : suspicion.sourceAdvice
    return ["\(advice).", evidence[suspicion]?.words(suspicion) ?? "Otherwise \(otherwise) dropped."]
  }

  package static let lossTitle = "What is lost (the previous version keeps it):"

  /// Groups items under their entities' names; items of one entity must be adjacent.
  ///
  /// `entity` returns `nil` for the model as a whole, and `more` returns an item's further lines.
  package static func sections<Item>(
    _ items: [Item], by entity: (Item) -> String?, _ style: TextStyle, line: (Item) -> String,
    more: (Item) -> [String] = { _ in [] }
  ) -> [String] {
    var lines: [String] = []
    var last: String??
    for item in items {
      let name = entity(item)
      if last != .some(name) { lines.append("  \(style.bold(name ?? "The model as a whole")):") }
      last = .some(name)
      lines += ["    \(line(item))"] + more(item).map { "      \($0)" }
    }
    return lines
  }

  private func line(_ change: ModelChange) -> String {
    let subject = change.property.map { "\($0): " } ?? ""
    let effect = change.effect == .nothing ? "" : "; \(change.effect.sentence)"
    return "\(subject)\(change.sentence)\(effect)\(place(of: change).map { " (\($0))" } ?? "")"
  }

  private func place(of change: ModelChange) -> String? {
    InMemoryModel.place(of: change.entity, change.property, in: places)
  }
}
