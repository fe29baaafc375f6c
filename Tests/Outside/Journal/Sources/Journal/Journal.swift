import Foundation
import Heirloom

/// A journal that writes notes at its first start and reads them at each.
@main
struct Journal {
  let storeURL = URL(fileURLWithPath: "Journal.sqlite")
  let modelURL = URL(fileURLWithPath: "Journal.xcdatamodeld")

  static func main() throws {
    try Journal().readNotes()
  }

  func readNotes() throws {
    let history = try ModelHistory(contentsOf: modelURL)
    let store = try PersistentStore.open(at: storeURL, history: history)
    let context = ManagedObjectContext(store: store)
    if try context.count("Note") == 0 {
      for name in ["diary", "diary", "travel"] {
        let tag = try context.insert("Tag")
        tag["name"] = .string(name)
        let note = try context.insert("Note")
        note["title"] = .string("About my \(name)")
        note[toMany: "tags"] = [tag]
      }
      try context.save()
    }
    for note in try context.fetch(ObjectFetchRequest("Note")) { print("-", try note.string("title") ?? "") }
    try store.close()
  }
}
