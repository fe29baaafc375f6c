import Foundation
import Heirloom

/// The instructions for appending to a long to-many relationship, by those for setting the inverse.
enum CountedAppending: String, CaseIterable {
  case appending
  /// Needs no list, so it is the limit.
  case linking

  static let childName = "appending"

  /// The difference of both counts gives the cost per object in a long list.
  private static let objects = (few: 1000, many: 9000)

  static func figure(with counter: InstructionCounter, in folder: String) throws -> GuardedFigure {
    let differences = try counter.differences(allCases, of: childName) { way in
      [objects.few, objects.many].map { [way.rawValue, String($0), folder] }
    }
    let ratio = (differences[.appending] ?? .nan) / (differences[.linking] ?? .nan)
    return GuardedFigure("append to a list, by linking to its owner", ratio, atMost: GuardCeilings.appending, .times)
  }

  /// The words are the way, the number of notes and the folder.
  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let way = CountedAppending(rawValue: words[0]), let count = Int(words[1]) else {
      throw BenchmarkError.usage("The run \(childName) needs a way, a number and a folder.")
    }
    let url = URL(fileURLWithPath: PathText.join(words[2], "\(way.rawValue)\(count).sqlite"))
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: try BenchmarkModels.notes()))
    let person = try context.insert("Person")
    for _ in 0..<count {
      let note = try context.insert("Note")
      switch way {
      case .appending: person[toMany: "notes"].append(note)
      case .linking: note[toOne: "author"] = person
      }
    }
    try context.save()
    let found = person[toMany: "notes"].count
    try BenchmarkError.require(found == count, expected: "\(count) notes", found: "\(found)")
  }
}
