import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension DecisionDraft {
  /// Throws ``MigrationError/unfitDecision(_:reason:)`` if a decision needs all objects at once.
  func rowRun(
    _ mappings: [EntityMapping], questions: EffectQuestions, connection: Connection
  ) throws -> RowRunDecisions {
    guard !mappings.isEmpty else { return RowRunDecisions() }
    var result = RowRunDecisions(
      values: values, fills: fills(in: questions.destination), links: decisions.filter { $0.choice.option == .new })
    func isByRow(_ row: DataEffect.Rows) -> Bool {
      mappings.contains { $0.sourceEntityName == row.entity && $0.destinationEntityName == row.destinationEntity }
    }
    for (effect, index) in decidedBlockers where effect.rows.contains(where: isByRow) {
      let decision = decisions[index]
      if !decision.choice.removesRows { continue }
      guard decision.choice.option == .quarantine, effect.kind != .duplicate else {
        throw MigrationError.unfitDecision(
          decision,
          reason:
            "objects of \"\(effect.entity)\" are made one by one, because a mapping has a condition, an expression that SQL"
            + " can't compute, or an entity of another mapping; exclude the duplicates with its condition")
      }
      for (row, condition) in questions.conditions(of: effect) where isByRow(row) {
        guard let destination = row.destinationEntity else { continue }
        // An object is written to the file once, by the first decision about it.
        let earlier = result.exclusions.filter { $0.source == row.entity && $0.destination == destination }
        let own = (["(\(condition))"] + earlier.map { "(\($0.condition)) IS NOT TRUE" }).chained(by: "AND")
        guard let keys = RowRunDecisions.keys(of: row.entity, [own], questions.source),
          let rows = try connection.firstInteger("SELECT COUNT(*) FROM (\(keys))"), rows > 0
        else { continue }
        result.exclusions.append(
          RowRunDecisions.Exclusion(
            source: row.entity, destination: destination, condition: own, decision: index, rows: rows))
      }
    }
    return result
  }

  private func fills(in destination: ManagedObjectModel) -> [RowRunDecisions.Fill] {
    decisions.enumerated().compactMap { index, decision in
      guard case .fill(let value) = decision.choice, let property = decision.properties.first,
        let leaf = destination.attributeTarget(property, of: decision.entity)?.description,
        (try? ValueCoding.encode(value, for: leaf)) != nil
      else { return nil }
      return RowRunDecisions.Fill(
        entity: decision.entity, property: property, literal: ValueConversion.literal(value, for: leaf),
        decision: index)
    }
  }
}

extension RowDecisions {
  mutating func add(_ rowRun: RowRunDecisions, decisions: [DataDecision], source: PhysicalSchema) {
    guard !rowRun.exclusions.isEmpty else { return }
    var (queries, rows) = (quarantine?.queries ?? [], quarantine?.rows ?? 0)
    for excluded in rowRun.exclusions {
      guard let number = source.entity(named: excluded.source)?.number,
        let keys = RowRunDecisions.keys(
          of: excluded.source, [excluded.condition], source, and: ", \(number), \(excluded.decision), NULL, NULL")
      else { continue }
      rows += excluded.rows
      queries.append("\(keys) ORDER BY 1")
      outcomes[excluded.decision].remove(excluded.rows)
      let entry = Entry(
        .quarantined(by: decisions[excluded.decision], of: excluded.destination),
        of: .objects(entity: excluded.source), entity: excluded.source)
      entries.append(CountedEntry(entry: entry, rows: excluded.rows))
    }
    quarantine = QuarantineQuery(queries: queries, decisions: decisions, rows: rows)
  }
}
