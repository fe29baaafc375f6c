import COwnSQLite
import Foundation
import Heirloom

/// Makes a store of the first version, migrates it to the current one, and says which SQLite did it.
@main
struct App {
  struct Failure: Error {
    let reason: String
  }

  static func main() throws {
    guard own_sqlite_count() == SQLITE_OK else { throw Failure(reason: "the connections can't be counted") }
    let store = URL(fileURLWithPath: "Journal.sqlite")
    let versions = URL(fileURLWithPath: "Journal.xcdatamodeld")
    let first = try ModelHistory(contentsOf: versions.appendingPathComponent("Journal.xcdatamodel"))
    let made = try PersistentStore.open(at: store, history: first)
    let context = ManagedObjectContext(store: made)
    let note = try context.insert("Note")
    note["title"] = .string("About my diary")
    try context.save()
    try made.close()

    let history = try ModelHistory(contentsOf: versions)
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store), history: history)
    guard case .migrated(let report) = try assistant.migrateStore() else { throw Failure(reason: "nothing to migrate") }
    let migrated = try PersistentStore.open(at: store, history: history)
    let notes = try ManagedObjectContext(store: migrated).fetch(ObjectFetchRequest("Note"))
    let titles = try notes.map { try $0.string("title") }
    guard titles == ["About my diary"] else { throw Failure(reason: "the note is lost: \(titles)") }
    try migrated.close()

    // Heirloom's connections were opened by the app's SQLite, and there is no other in the process.
    let others = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
      .filter { $0.contains("libsqlite3") }
    guard own_sqlite_opened() >= 3, others.isEmpty else {
      throw Failure(reason: "\(own_sqlite_opened()) connections of the app's SQLite, and another: \(others)")
    }
    print("migrated, kept as", report.previousVersion.id)
    print(own_sqlite_opened(), "connections through the app's own SQLite", String(cString: sqlite3_libversion()))
  }
}
