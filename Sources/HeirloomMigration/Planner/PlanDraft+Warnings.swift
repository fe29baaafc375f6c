import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension PlanDraft {
  func warnings(_ parts: CandidateParts, findings: [StoreQuestions.Finding], losses: [MigrationLoss]) -> [String] {
    let notes = MappingWarnings(mapping: planner.mapping, source: source.model, destination: destination.model)
    return losses.compactMap { mistakenEntity($0) ?? mistakenProperty($0) }
      + notes.leftOut(losses) + notes.leftToPolicies(crossing.counts.byEntity)
      + crossing.routing.keys.warnings
      + parts.backfill.warnings
      + findings.compactMap { if case .warning(let text) = $0 { text } else { nil } }
      + drift.compactMap { Self.warning(of: $0, in: source) }
      + UnknownColumns(crossing: crossing).warnings + parts.metadata.warnings
      + parts.foreign.warnings
      + framework.warnings + planner.settings.damage
  }

  /// Renaming identifiers decide, as in Core Data: wrong ones are hard to notice and have shipped.
  private func mistakenEntity(_ loss: MigrationLoss) -> String? {
    guard loss.property == nil, loss.consent == nil, let namesake = destination.model.entity(named: loss.entity) else {
      return nil
    }
    let words =
      "\(CountText.counted(loss.rows, "object")) of \"\(loss.entity)\" \(CountText.verb("are", loss.rows)) dropped although the destination has an entity of that name:"
    let mappings = planner.mapping.entityMappings(fromEntity: loss.entity)
    // An inferred mapping has an entity mapping for each entity, if only to remove it.
    guard !mappings.isEmpty else {
      return words + " no entity mapping of the given mapping has \"\(loss.entity)\" as its source; is that a mistake?"
    }
    guard namesake.canonicalIdentifier != source.model.entity(named: loss.entity)?.canonicalIdentifier else {
      let names = mappings.map { "\"\($0.name)\"" }.joined(separator: ", ")
      return words + " the entity mapping \(names) does not map to it; is that a mistake?"
    }
    return words
      + " its renaming identifier \"\(namesake.canonicalIdentifier)\" marks it as a different entity; is that a mistake?"
  }

  private func mistakenProperty(_ loss: MigrationLoss) -> String? {
    guard let name = loss.property,
      source.model.declaringEntity(ofProperty: name, in: loss.entity)?.name == loss.entity
    else { return nil }
    for entity in source.model.entityTree(from: loss.entity) {
      guard let route = crossing.routing.bySource[entity.name],
        let owner = destination.model.declaringEntity(ofProperty: name, in: route.destination),
        let identifier = destination.model.attribute(named: name, of: owner.name)?.canonicalIdentifier
          ?? destination.model.relationship(named: name, of: owner.name)?.canonicalIdentifier,
        !isTransient(name, of: owner.name), route.properties[name]?.form ?? .defaultValue == .defaultValue
      else { continue }
      let before =
        source.model.attribute(named: name, of: entity.name)?.canonicalIdentifier
        ?? source.model.relationship(named: name, of: entity.name)?.canonicalIdentifier ?? name
      guard before != identifier else { continue }
      return
        "\(CountText.counted(loss.rows, "value")) of \"\(loss.entity).\(name)\" \(CountText.verb("are", loss.rows)) dropped although \"\(owner.name)\" has a property of"
        + " that name: its renaming identifier \"\(identifier)\" marks it as a different one than \"\(before)\"; is that a mistake?"
    }
    return nil
  }

  private func isTransient(_ property: String, of entity: String) -> Bool {
    destination.model.attribute(named: property, of: entity)?.isTransient
      ?? destination.model.relationship(named: property, of: entity)?.isTransient ?? false
  }

  /// `nil` for most differences, which have no effect.
  private static func warning(of drift: SchemaDrift, in source: PhysicalSchema) -> String? {
    switch drift {
    // The oldest versions of Core Data declared the keys of links without a type.
    case .differentType(let table, _, "", _) where source.table(named: table)?.isJoin == true: nil
    case .differentType(let table, let column, let found, let expected):
      "the column \(table).\(column) was declared as \(found.isEmpty ? "no type" : found) where the model requires"
        + " \(expected); its values are copied unchanged"
    default: nil
    }
  }
}
