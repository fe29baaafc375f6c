import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct ChangeRow: Sendable, CustomTestStringConvertible {
  let name: String
  let source: [EntityDescription]
  let destination: [EntityDescription]
  let verdict: ModelDifference.Verdict
  /// Kind, subject, effect; an `*` in front marks a hashed change.
  let changes: [String]
  let effects: [String]
  let obstacles: [String]

  var testDescription: String { name }

  func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    (try ManagedObjectModel(entities: source), try ManagedObjectModel(entities: destination))
  }
}

struct ChangeTableTests {
  @Test(arguments: ChangeTable.rows)
  func `a change has the verdict, effects, effects and obstacles of the table`(row: ChangeRow) throws {
    let (source, destination) = try row.models()
    let difference = ModelDifference(from: source, to: destination)
    #expect(difference.verdict == row.verdict)
    #expect(difference.changes.map(\.code) == row.changes)
    #expect(difference.effects.map(\.code) == row.effects)
    #expect(
      difference.obstacles.map { "\($0.kind) \($0.entity)\($0.property.map { "." + $0 } ?? "")" } == row.obstacles)
    if row.obstacles.isEmpty {
      let mapping = try MappingModel.inferred(from: source, to: destination)
      #expect(mapping.mismatches(from: source, to: destination).isEmpty)
      for entity in destination.entities {
        let attributes = destination.attributes(of: entity.name).map(\.name)
        #expect(mapping.entityMappings(toEntity: entity.name).map { $0.attributeMappings.map(\.name) } == [attributes])
      }
    }
  }

  @Test(arguments: ChangeTable.rows)
  func `a different hash has a hashed change that explains it, in both directions`(row: ChangeRow) throws {
    let (source, destination) = try row.models()
    #expect(unexplainedHashes(from: source, to: destination).isEmpty)
    #expect(unexplainedHashes(from: destination, to: source).isEmpty)
  }

  @Test(arguments: ChangeTable.rows)
  func `a model does not differ from itself`(row: ChangeRow) throws {
    let models = try row.models()
    for model in [models.source, models.destination] {
      let difference = ModelDifference(from: model, to: model)
      #expect(difference.verdict == .identical && difference.changes.isEmpty && difference.effects.isEmpty)
      #expect(difference.diagnostics.isEmpty && difference.obstacles.isEmpty)
    }
  }

  @Test(arguments: ChangeTable.rows)
  func `every change says in words what happens`(row: ChangeRow) throws {
    let (source, destination) = try row.models()
    for change in ModelDifference(from: source, to: destination).changes {
      #expect(change.description.hasSuffix(".") && change.description.hasPrefix(change.subject))
      // A code instead of a sentence would mean that a kind has no words.
      #expect(change.sentence != change.kind.rawValue)
    }
  }
}

/// Their hashes differ without a hashed change in the entity or an ancestor.
func unexplainedHashes(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
  unexplainedHashes(in: ModelDifference(from: source, to: destination))
}

func unexplainedHashes(in difference: ModelDifference) -> [String] {
  let changed = Set(difference.changes.filter(\.isHashed).compactMap(\.entity))
  let (old, new) = (difference.inference.sourceHashes, difference.inference.destinationHashes)
  return difference.inference.correspondence.entities.filter { pair in
    old[pair.source.name] != new[pair.destination.name]
      && !([pair.destination] + difference.destination.superentities(of: pair.destination.name)).contains {
        changed.contains($0.name)
      }
  }.map(\.destination.name)
}

extension ModelChange {
  var code: String { "\(isHashed ? "*" : "")\(kind) \(subject) \(effect.code)" }
}
