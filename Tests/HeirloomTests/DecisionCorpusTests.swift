import Foundation
import Heirloom
import TestSupport
import Testing

/// Decisions about rows of real stores.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct DecisionCorpusTests {
  /// A store with a constraint that a next version might have, and the decision about its duplicates.
  struct Case: CustomTestStringConvertible, Sendable {
    let store: String
    let choice: DataDecision.Choice

    var testDescription: String { "\(store): \(choice.option.rawValue)" }
  }

  /// Every store with every choice, or some of each.
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
  ) throws -> (model: ManagedObjectModel, entity: String, attribute: String)? {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
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
    return (try ManagedObjectModel(entities: entities), best.entity, best.attribute)
  }

  @Test(arguments: cases)
  func `a constraint on a real graph is met by decision, whichever builder makes the store`(item: Case) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(item.store, to: directory)
    guard let source = try StoreModelCache.model(inStoreAt: url),
      let (destination, entity, attribute) = try constrained(source, url)
    else { return }
    let history = ModelHistory(current: destination, earlier: [("before", source)])
    func plan(_ decisions: [DataDecision]) throws -> MigrationPlan {
      try #require(try DataDecisionTests.assistant(url, source, destination, decisions).plan())
    }
    var decisions = [DataDecision(entity: entity, property: attribute, item.choice)]
    let undecided = try plan([])
    let expected = undecided.blockers.filter { $0.entity == entity && $0.property == attribute }.map(\.rows)
    #expect(expected.count == 1)
    // The consequences of a decision must be decided as well, until nothing is left.
    for _ in 0..<20 {
      let blockers = try plan(decisions).blockers
      if blockers.isEmpty { break }
      decisions += blockers.map { blocker in
        DataDecision(
          entity: blocker.entity, constraint: (blocker.property ?? "").components(separatedBy: ", "),
          blocker.choices.contains(.merge) ? .merge() : .quarantine)
      }
    }
    var configuration = MigrationAssistant.Configuration.withBothProofs
    configuration.decisions = decisions
    try BuilderTests.compare(url, in: directory, history: history, configuration: configuration)

    let before = try StoreContents(of: url, model: source)
    let faults = Set(try DataDecisionTests.faults(url))
    let assistant = DataDecisionTests.assistant(url, source, destination, decisions)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
    let removed = report.plan.decisions.reduce(Int64(0)) { $0 + $1.removed }
    #expect(removed >= expected.reduce(0, +))
    let after = try StoreContents(of: url, model: destination)
    func count(_ contents: StoreContents) -> Int64 { contents.objects.values.reduce(0) { $0 + Int64($1.count) } }
    #expect(count(after) + removed == count(before))
    for (entity, objects) in after.objects {
      #expect(objects.keys.allSatisfy { before.objects[entity]?[$0] != nil })
    }
    let lines = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n").count }
    #expect(Int64(lines.reduce(0, +)) == report.plan.decisions.reduce(0) { $0 + $1.quarantined })
    // Links and values are as consistent as before; existing faults may concern fewer or other objects.
    let found = Set(try DataDecisionTests.faults(url)).subtracting(faults)
    #expect(found.count <= faults.count, "\(found)")
    #expect(!found.contains { $0.contains("unique") }, "\(found)")
    withExtendedLifetime(directory) {}
  }

  /// Takes versions that the apps themselves shipped, and that some of their stores' rows don't fit.
  @Test func `real versions that rows don't fit are migrated by decision`() throws {
    var blocked: [String] = []
    var planned = 0
    for jump in BuilderCorpusTests.jumps {
      try Corpus.withCopy(of: jump.store) { url in
        let history = try jump.history()
        func assistant(_ decisions: [DataDecision]) -> MigrationAssistant {
          var configuration = MigrationAssistant.Configuration.withBothProofs
          configuration.decisions = decisions
          return MigrationAssistant(
            storeURL: url, modelController: ModelController(storeURL: url), history: history,
            configuration: configuration)
        }
        let plan = try #require(try assistant([]).plan(), "\(jump)")
        planned += 1
        guard !plan.blockers.isEmpty else { return }
        var decisions: [DataDecision] = []
        for _ in 0..<20 {
          let left = try #require(try assistant(decisions).plan()).blockers
          if left.isEmpty { break }
          decisions += left.map { blocker in
            DataDecision(
              entity: blocker.entity, constraint: (blocker.property ?? "").components(separatedBy: ", "),
              blocker.choices.contains(.merge) ? .merge() : .quarantine)
          }
        }
        guard case .migrated(let report) = try assistant(decisions).migrateStore() else {
          Issue.record("\(jump): expected a migration")
          return
        }
        blocked.append(
          "\(jump.store) to \(jump.version): \(report.plan.decisions.map { "\($0.decision) \($0.removed)" })")
        let before = report.plan.rows.reduce(Int64(0)) { $0 + ($1.after == nil ? 0 : $1.before ?? 0) }
        let after = report.plan.rows.reduce(Int64(0)) { $0 + ($1.after ?? 0) }
        #expect(before == after + report.plan.decisions.reduce(0) { $0 + $1.removed })
      }
    }
    print("decisions about real versions: \(blocked)")
    // Each was looked at. That decisions work on real rows, the test above shows on constraints of its own.
    #expect(planned == BuilderCorpusTests.jumps.count && planned >= 8)
  }
}
