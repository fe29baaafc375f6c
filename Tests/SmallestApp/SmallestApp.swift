import Foundation
import Heirloom

/// The smallest app: what it links, an app gets of the library.
///
/// The guard weighs it, and .ci/check-dependency builds it elsewhere.
@main
enum SmallestApp {
  static func main() throws {
    let history = ModelHistory(current: try ManagedObjectModel(entities: [EntityDescription(name: "Note")]))
    let store = try PersistentStore.open(at: URL(fileURLWithPath: "Notes.sqlite"), history: history)
    try store.close()
    print("opened")
  }
}
