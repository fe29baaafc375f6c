import Foundation
import Heirloom

/// The instructions that it takes to append an object to a long list, and to link it from its own side instead.
enum CountedAppending: String, CaseIterable {
  /// Each object is appended to the to-many relationship.
  case appending
  /// Each object's to-one relationship is set, which needs no list: this is the limit.
  case linking

  /// The name of the run in a child process.
  static let childName = "appending"

  /// The numbers of objects, whose counts are compared to get the cost of one where the list is long.
  private static let objects = (few: 1000, many: 9000)

  /// Counts both ways, each with a save at the end.
  ///
  /// - Parameters:
  ///   - counter: The counter.
  ///   - folder: An empty folder.
  /// - Returns: The instructions of appending, divided by those of linking.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` for a process that failed.
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

  /// Makes a person with the given number of notes in a new store.
  ///
  /// - Parameter words: The way, the number and the folder.
  /// - Throws: ``BenchmarkError/unexpectedOutcome(expected:found:)`` if the person has another number of notes.
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
