import Foundation
import HeirloomModel
import HeirloomStore

/// The new objects that decisions give to rows without a required link.
///
/// They are made after the migrated store has been proven against the source, which has none of them.
struct NewLinks {
  private let outcomes: [(index: Int, outcome: DecisionOutcome)]
  private let model: ManagedObjectModel
  /// True if code made objects; the plan couldn't count those without a link.
  private let followsCode: Bool

  init(of plan: MigrationPlan) {
    followsCode = plan.rowRun != nil
    model = plan.destination
    outcomes = plan.hopDecisions.enumerated().compactMap { [followsCode] index, outcome in
      outcome.decision.choice.option == .new
        && (outcome.filled > 0 || followsCode && plan.destination.hasLink(outcome.decision))
        ? (index, outcome) : nil
    }
  }

  var isEmpty: Bool { outcomes.isEmpty }

  /// Throws ``MigrationError/proofFailed(findings:)`` if not every row gets an object.
  ///
  /// `objects` counts the objects of each entity afterwards, without those of subentities; `linked`
  /// the rows that got one, by the decision's index.
  func make(in path: String, externalPath: String, progress: Progress?) throws -> (
    objects: [String: Int64], linked: [Int: Int64]
  ) {
    var linked: [Int: Int64] = [:]
    let objects = try StageHandler.change(
      storeAt: path, externalPath: externalPath, model: model, progress: progress
    ) { store in
      for (index, outcome) in outcomes {
        guard case .link(let entity) = outcome.decision.choice, let relationship = outcome.decision.properties.first
        else {
          continue
        }
        var made: Int64 = 0
        while case let count = try makeSome(entity, for: relationship, of: outcome.decision.entity, in: store),
          count > 0
        {
          made += count
          guard progress?.isCancelled != true else { throw MigrationError.cancelled }
        }
        linked[index] = made
        guard followsCode || made == outcome.filled else {
          throw MigrationError.proofFailed(findings: [
            "\(made) objects of \(entity) were made for \(outcome.filled) rows of \(outcome.decision.entity) without a link"
          ])
        }
      }
    }
    return (objects, linked)
  }

  private func makeSome(
    _ entity: String, for relationship: String, of owner: String, in store: PersistentStore
  ) throws -> Int64 {
    let context = ManagedObjectContext(store: store)
    let connection = store.connection
    let numbers = model.entityTree(from: owner).compactMap { store.schema.entity(named: $0.name)?.number }
    guard case .key(_, let column, _)? = store.schema.storage(ofRelationship: relationship, in: owner),
      let table = store.schema.table(ofEntity: owner)?.name
    else { return 0 }
    let rows = try connection.rows(
      "SELECT \(quote(PhysicalName.entity)), \(quote(PhysicalName.primaryKey)) FROM \(quote(table)) WHERE \(quote(column)) IS NULL"
        + " AND \(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", "))) LIMIT 1000")
    var made: Int64 = 0
    for row in rows {
      guard let number = row[0].integer, let key = row[1].integer,
        let object = try context.object(numbered: Int(clamping: number), primaryKey: key)
      else { continue }
      object[toOne: relationship] = try context.insert(entity)
      made += 1
    }
    // Pending changes are written without validation: other values of the rows may break their rules.
    try connection.transaction(wrapping: { $0 as any Error }) { try context.writePendingChanges() }
    return made
  }
}

extension ManagedObjectModel {
  fileprivate func hasLink(_ decision: DataDecision) -> Bool {
    relationship(named: decision.properties.first ?? "", of: decision.entity)?.isRequiredKey ?? false
  }
}
