import Foundation
import Heirloom
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct DecisionCorpusTests {
  /// A store with a constraint that a next version might have, and the decision about its duplicates.
  struct Case: CustomTestStringConvertible, Sendable {
    let store: String
    let choice: DataDecision.Choice

    var testDescription: String { "\(store): \(choice.option.rawValue)" }
  }

  static let cases: [Case] = {
    let choices: [DataDecision.Choice] = [.merge(), .quarantine, .keepNewest()]
    let all = Corpus.isPresent ? Corpus.storePaths : []
    if LongTests.areOn { return all.flatMap { store in choices.map { Case(store: store, choice: $0) } } }
    return stride(from: 0, to: all.count, by: max(1, all.count / 9)).map { place in
      Case(store: all[place], choice: choices[place % choices.count])
    }
  }()

  /// Adds a constraint on an attribute in which objects are equal, of the entity that has the most such objects.
  private func constrained(
    _ source: ManagedObjectModel, _ url: URL
  ) throws -> (source: ManagedObjectModel, model: ManagedObjectModel, entity: String, attribute: String)? {
    let connection = try Connection(reading: url, options: .inspecting)
    let schema = PhysicalSchema(model: source, actual: try ActualSchema(of: connection))
    var best: (surplus: Int64, entity: String, attribute: String)?
    for entity in source.entities {
      for attribute in entity.attributes where !attribute.isTransient && attribute.derivation == nil {
        guard let column = schema.column(atPath: [attribute.name], in: entity.name) else { continue }
        let surplus =
          try connection.firstInteger(
            "SELECT COUNT(\(quote(column.name))) - COUNT(DISTINCT \(quote(column.name))) FROM \(quote(column.table))")
          ?? 0
        if surplus > best?.surplus ?? 0 { best = (surplus, entity.name, attribute.name) }
      }
    }
    guard let best else { return nil }
    var entities = source.entities
    guard let index = entities.firstIndex(where: { $0.name == best.entity }) else { return nil }
    entities[index].uniquenessConstraints.append([best.attribute])
    return (source, try ManagedObjectModel(entities: entities), best.entity, best.attribute)
  }

  /// Decides about all blockers, and about the consequences of the decisions until nothing is left.
  static func decisions(
    _ first: [DataDecision] = [], _ plan: ([DataDecision]) throws -> MigrationPlan
  ) throws -> [DataDecision] {
    var decisions = first
    for _ in 0..<20 {
      let blockers = try plan(decisions).blockers
      if blockers.isEmpty { break }
      decisions += blockers.map { blocker in
        DataDecision(
          entity: blocker.entity, constraint: (blocker.property ?? "").components(separatedBy: ", "),
          blocker.choices.contains(.merge) ? .merge() : .quarantine)
      }
    }
    return decisions
  }

  @Test(.slow("real stores, each migrated by both builders"), arguments: cases)
  func `a constraint on a real graph is met by decision, whichever builder makes the store`(item: Case) throws {
    let destination = try Corpus.withCopy(of: item.store) { url in
      try StoreModelCache.model(inStoreAt: url).flatMap { try constrained($0, url) }
    }
    guard let (source, model, entity, attribute) = destination else { return }
    let run = try CorpusRun(
      of: item.store, to: ModelHistory(current: model, earlier: [("before", source)]),
      decisions: [DataDecision(entity: entity, property: attribute, item.choice)])
    try run.check()
    let expected = run.plan.blockers.filter { $0.entity == entity && $0.property == attribute }.map(\.rows)
    #expect(expected.count == 1)
    let (before, after, report) = (run.before, run.after, run.copies[0].report)
    let removed = report.plan.decisions.reduce(Int64(0)) { $0 + $1.removed }
    #expect(removed >= expected.reduce(0, +))
    func count(_ contents: StoreContents) -> Int64 { contents.objects.values.reduce(0) { $0 + Int64($1.count) } }
    #expect(count(after) + removed == count(before))
    for (entity, objects) in after.objects {
      #expect(objects.keys.allSatisfy { before.objects[entity]?[$0] != nil })
    }
    let lines = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n").count }
    #expect(Int64(lines.reduce(0, +)) == report.plan.decisions.reduce(0) { $0 + $1.quarantined })
    // Links and values are as consistent as before; existing faults may concern fewer or other objects.
    let faults = Set(try DataDecisionTests.faults(run.original.storeURL))
    let found = Set(try DataDecisionTests.faults(run.copies[0].url)).subtracting(faults)
    #expect(found.count <= faults.count, "\(found)")
    #expect(!found.contains { $0.contains("unique") }, "\(found)")
  }
}
