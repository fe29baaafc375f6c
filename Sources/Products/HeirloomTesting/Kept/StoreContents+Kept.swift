public import Foundation
public import Heirloom
import HeirloomMapping
package import HeirloomMigration
public import HeirloomModel
import HeirloomStore

extension StoreContents {
  /// Checks that a migration kept what the store held before.
  ///
  /// ```
  /// let before = try StoreContents(of: storeURL, model: oldModel)
  /// guard case .migrated(let report) = try assistant.migrateStore() else { return }
  /// try before.expectKept(in: storeURL, after: report)
  /// ```
  ///
  /// Objects are compared by entity and primary key, as the mapping implies. Values that it copies must be equal, and
  /// links must refer to the same objects. Missing content must be among the losses that the plan announced. Results of
  /// code (policies, handlers of stages, expressions) are unknown: entities with a policy are left out, objects that
  /// code may have created are skipped, and `except` names what handlers changed.
  ///
  /// - Parameters:
  ///   - url: The migrated store.
  ///   - report: The migration's report.
  ///   - except: The entities, such as `Item`, or properties, such as `Item.title`, that may differ, named as after the
  ///     migration.
  /// - Throws: ``MigrationNotKept`` with all findings, or the error if the store can't be read.
  public func expectKept(in url: URL, after report: MigrationReport, except: Set<String> = []) throws {
    let findings = try findings(in: url, after: report.plan).filter { !$0.isAbout(except) }
    guard findings.isEmpty else { throw MigrationNotKept(findings: findings) }
  }

  /// Checks that a store's content is unchanged: every object, value and link.
  ///
  /// Use it after operations that must change nothing, such as a second migration or a return to a previous version.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - model: The store's model, which must be the same as before.
  /// - Throws: ``MigrationNotKept`` with all findings, or the error if the store can't be read.
  public func expectUnchanged(in url: URL, model: ManagedObjectModel) throws {
    let found = try StoreContents(of: url, model: model)
    let findings = ExpectedContents(self, of: model).findings(in: found)
    guard findings.isEmpty else { throw MigrationNotKept(findings: findings) }
  }

  package func findings(in url: URL, after plan: MigrationPlan) throws -> [MigrationFinding] {
    try findings(in: StoreContents(of: url, model: plan.lastDestination), after: plan)
  }

  package func findings(in found: StoreContents, after plan: MigrationPlan) -> [MigrationFinding] {
    var expected = ExpectedContents(self, of: plan.source)
    for step in plan.hops {
      expected = expected.migrated(from: step.source, to: step.destination, by: step.mapping)
    }
    var decided = ExpectedContents.Decided()
    let hops = plan.hops
    for (place, hop) in hops.enumerated() {
      // Later hops may rename the objects' entities.
      func lastNames(of entity: String) -> Set<String> {
        hops[(place + 1)...].reduce([entity]) { names, later in
          Set(names.flatMap { later.mapping.entityMappings(fromEntity: $0) }.compactMap(\.destinationEntityName))
        }
      }
      for outcome in hop.hopDecisions {
        let concerned = hop.destination.entityCovered(by: outcome.decision.properties, of: outcome.decision.entity)
        for entity in hop.destination.entityTree(from: concerned).flatMap({ lastNames(of: $0.name) }) {
          if outcome.removed > 0 { decided.removed[entity, default: 0] += outcome.removed }
          // A merged object takes missing values from the others.
          let isMerged = outcome.decision.choice.option == .merge && outcome.removed > 0
          if outcome.filled > 0 || isMerged { decided.filled.insert(entity) }
          if outcome.decision.choice.option == .new, outcome.filled > 0 { decided.linked.insert(entity) }
        }
        guard case .link(let made) = outcome.decision.choice else { continue }
        for entity in lastNames(of: made) { decided.made[entity, default: 0] += outcome.filled }
      }
    }
    // Handlers of stages aren't part of the mapping.
    decided.hasCode = plan.hops.contains { !$0.isInferred || $0.mapping.entityMappings.contains(where: \.isCode) }
    return expected.findings(in: found, decided: decided) + unannouncedLosses(in: plan)
  }

  private func unannouncedLosses(in plan: MigrationPlan) -> [MigrationFinding] {
    let model = plan.source
    let losses = plan.losses
    func isAnnounced(_ entity: String, _ property: String?) -> Bool {
      let names = Set([entity] + model.superentities(of: entity).map(\.name))
      return losses.contains { loss in
        guard names.contains(loss.entity) else { return false }
        guard let property, let lost = loss.property else { return loss.property == property }
        return lost == property || lost.hasPrefix(property + ".") || property.hasPrefix(lost + ".")
      }
    }
    return model.entities.flatMap { entity -> [MigrationFinding] in
      guard let objects = objects[entity.name], !objects.isEmpty else { return [] }
      let mappings = plan.mapping.entityMappings.filter { $0.sourceEntityName == entity.name }
      let going = mappings.filter { $0.destinationEntityName != nil }
      if mappings.contains(where: \.isCode) { return [] }
      guard !going.isEmpty else {
        return isAnnounced(entity.name, nil)
          ? []
          : [
            MigrationFinding(
              .unannouncedLoss, entity.name,
              "\(CountText.counted(objects.count, "object")) of \"\(entity.name)\" \(CountText.verb("have", objects.count)) no place in the new model, and the plan doesn't say so"
            )
          ]
      }
      let forms = going.flatMap(\.attributeMappings).map(\.form)
      if forms.contains(where: { if case .expression = $0 { true } else { false } }) { return [] }
      let computed = plan.decisions.filter { outcome in
        going.contains { plan.destination.isEntity($0.destinationEntityName ?? "", kindOf: outcome.decision.entity) }
      }.compactMap(\.decision.pathKept)
      let used = Set((forms.compactMap(\.sourceName) + computed).map { $0.prefix { $0 != "." } }.map(String.init))
      return model.attributes(of: entity.name).compactMap { attribute in
        let count = objects.values.count { object in
          object.values.contains { path, value in
            value != .null && (path == attribute.name || path.hasPrefix(attribute.name + "."))
          }
        }
        guard attribute.derivation == nil, count > 0, !used.contains(attribute.name),
          !isAnnounced(entity.name, attribute.name)
        else { return nil }
        return MigrationFinding(
          .unannouncedLoss, entity.name, property: attribute.name,
          "\(CountText.counted(count, "value")) of \"\(entity.name).\(attribute.name)\" \(CountText.verb("are", count)) missing, and the plan doesn't say so"
        )
      }
    }
  }
}

extension MigrationFinding {
  /// `names` has entities, and properties as `Entity.property`.
  func isAbout(_ names: Set<String>) -> Bool {
    names.contains(entity) || property.map { names.contains("\(entity).\($0)") } ?? false
  }
}

extension MigrationPlan {
  fileprivate var lastDestination: ManagedObjectModel { hops.last?.destination ?? destination }
}

extension PropertyMapping.Form {
  fileprivate var sourceName: String? {
    switch self {
    case .attribute(let name), .filledAttribute(let name, _), .steppedAttribute(let name, _): name
    default: nil
    }
  }
}
