import Foundation
import Heirloom

enum NoteSplitter {
  /// `owner` is the note that the verses belong to; returns their number.
  static func split(
    _ note: ManagedObject, way: RowBenchmark.Way, owner: ManagedObject?, into context: ManagedObjectContext,
    made: (ManagedObject) throws -> Void = { _ in }
  ) throws -> Int64 {
    var count: Int64 = 0
    switch way {
    case .limit: break
    case .bytes:
      _ = try note.withBytes(of: "body") { bytes in
        try NoteBody.forEachSentence(of: bytes) { position, sentence in
          let verse = try context.insert("Verse")
          try verse.setObject(owner, forRelationship: "note")
          try verse.set(position, for: "position")
          try verse.set(utf8: sentence, for: "text")
          try made(verse)
          count += 1
        }
      }
    case .typed:
      guard let body = try note.string("body") else { return 0 }
      try NoteBody.forEachSentence(of: body) { position, sentence in
        let verse = try context.insert("Verse")
        try verse.setObject(owner, forRelationship: "note")
        try verse.set(position, for: "position")
        try verse.set(sentence, for: "text")
        try made(verse)
        count += 1
      }
    case .boxed:
      guard case .string(let body) = note["body"] else { return 0 }
      try NoteBody.forEachSentence(of: body) { position, sentence in
        let verse = try context.insert("Verse")
        verse[toOne: "note"] = owner
        verse["position"] = .integer(Int64(position))
        verse["text"] = .string(sentence)
        try made(verse)
        count += 1
      }
    }
    return count
  }
}

class VersePolicy: EntityMigrationPolicy {
  class var way: RowBenchmark.Way { .bytes }

  /// The entity mapping that copies notes in SQL.
  private var noteMapping: String = ""

  override var createsRelationships: Bool { false }

  override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
    noteMapping = manager.mappingModel.entityMappings.first { $0.destinationEntityName == "Note" }?.name ?? ""
  }

  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let owner = try manager.destinationInstances(forEntityMappingNamed: noteMapping, sourceInstances: [source]).first
    _ = try NoteSplitter.split(source, way: Self.way, owner: owner, into: manager.destinationContext) { verse in
      try manager.associate(source: source, destination: verse, for: mapping)
    }
  }
}

final class TypedVersePolicy: VersePolicy {
  override class var way: RowBenchmark.Way { .typed }
}

final class BoxedVersePolicy: VersePolicy {
  override class var way: RowBenchmark.Way { .boxed }
}
