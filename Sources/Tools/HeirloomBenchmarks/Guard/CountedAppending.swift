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

  /// Returns appending's instructions divided by linking's.
  static func count(with counter: InstructionCounter, in folder: String) throws -> Double {
    func run(_ way: CountedAppending, _ count: Int) -> InstructionCounter.Run {
      InstructionCounter.Run(name: childName, words: [way.rawValue, String(count), folder])
    }
    let counts = try counter.count(allCases.flatMap { [run($0, objects.few), run($0, objects.many)] })
    func difference(_ way: CountedAppending) -> Double {
      (counts[run(way, objects.many)] ?? .nan) - (counts[run(way, objects.few)] ?? .nan)
    }
    return difference(.appending) / difference(.linking)
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
    guard person[toMany: "notes"].count == count else {
      throw BenchmarkError.unexpectedOutcome(
        expected: "\(count) notes", found: "\(person[toMany: "notes"].count)")
    }
  }
}
