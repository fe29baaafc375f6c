import Foundation
import Heirloom
import HeirloomTesting

/// The release after a recipe's: nothing of the recipe is taken out, and stores of every version are opened.
enum OneMoreRelease {
  struct Failure: Error { let text: String }

  static func check(
    _ first: ManagedObjectModel, _ second: ManagedObjectModel, _ options: PersistentStoreOptions,
    isPinned: Bool, steps: (inout ModelHistory) throws -> Void = { _ in }
  ) throws {
    var later = EntityDescription(name: "LaterEntity")
    later.attributes = [AttributeDescription(name: "text", type: .string)]
    let third = try ManagedObjectModel(entities: second.entities + [later])
    var history = ModelHistory(
      current: third, name: "3", earlier: [(name: "1", model: first), (name: "2", model: second)])
    try steps(&history)
    var before = ModelHistory(current: second, name: "2", earlier: [(name: "1", model: first)])
    try steps(&before)
    for (name, model) in [("1", first), ("2", second), ("3", third)] {
      let url = URL(fileURLWithPath: "release-3-from-\(name).sqlite")
      try SampleObjects(of: model, objectsPerEntity: 8).makeStore(at: url)
      for round in 1...2 {
        do {
          try PersistentStore.open(at: url, history: history, options: options).close()
        } catch {
          throw Failure(text: "one release later, a store of version \(name), round \(round): \(error)")
        }
      }
      let kept = try StoreArchive(storeURL: url).previousVersions()
      guard kept.count == (name == "3" ? 0 : 1), kept.allSatisfy({ !$0.isPinned || isPinned && name == "1" }) else {
        throw Failure(text: "one release later, a store of version \(name): \(kept)")
      }
      guard name == "3" else { continue }
      // What the recipe's release has no place for is refused, or stays in a version that nobody removes.
      do {
        try PersistentStore.open(at: url, history: before, options: options).close()
      } catch let error as MigrationAssistantError where ["newerVersion", "unknownVersion"].contains(error.code) {
        continue
      }
      guard try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [true] else {
        throw Failure(text: "the recipe's release loses what the next one made")
      }
    }
  }
}
