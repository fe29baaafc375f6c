import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// What pins say after migrations and restorations, held against the rows of all files by plain SQL.
struct PinTests {
  enum Action: Sendable {
    /// The newer release's launch, which drops moods that nobody consented to lose.
    case update
    /// Counted from the oldest.
    case restore(Int)
    case write
  }

  /// A file as plain SQL shows it: its columns, and its rows by key.
  private struct Picture {
    let columns: [String]
    let rows: [Int64: [String: SQLiteValue]]

    init(_ url: URL) throws {
      let connection = try Connection(reading: url)
      let names = try connection.rows("SELECT name FROM pragma_table_info('ZITEM')").compactMap { $0.first?.text }
      columns = names.filter { !["Z_ENT", "Z_OPT"].contains($0) }.sorted()
      let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
      var rows: [Int64: [String: SQLiteValue]] = [:]
      for row in try connection.rows("SELECT Z_PK, \(list) FROM ZITEM") {
        rows[try #require(row[0].integer)] = Dictionary(uniqueKeysWithValues: zip(columns, row.dropFirst()))
          .filter { $0.value != .null }
      }
      self.rows = rows
      try connection.close()
    }

    func sole(besides others: [Picture]) -> Int64 {
      Int64(
        rows.count { key, row in
          !others.contains { other in
            guard let held = other.rows[key] else { return false }
            return row.allSatisfy { held[$0.key] == $0.value }
          }
        })
    }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let first: ManagedObjectModel
    let second: ManagedObjectModel
    var store: URL { directory.file("Journal.sqlite") }
    var archive: StoreArchive { StoreArchive(storeURL: store) }

    init() throws {
      directory = try TemporaryDirectory()
      first = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("mood")])])
      second = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("more")])])
      try PersistentStore.make(at: store, model: first) { context in
        for number in 0..<9 {
          let item = try context.insert("Item")
          item["name"] = .string("item \(number)")
          if number % 3 == 0 { item["mood"] = .string("merry") }
        }
      }
    }

    /// Returns the version that a restoration kept.
    func perform(_ action: Action) throws -> PreviousVersion? {
      switch action {
      case .update:
        _ = try MigrationAssistant(store, from: first, to: second).migrateStore()
        try ModelController(storeURL: store).archive(second)
      case .restore(let number):
        return try archive.restorePreviousVersion(archive.previousVersions().reversed()[number].id).previous
      case .write:
        let isFirst = try StoreMetadata(contentsOf: store).versionHashes == first.versionHashes()
        let opened = try PersistentStore.open(at: store, model: isFirst ? first : second)
        let context = ManagedObjectContext(store: opened)
        let item = try context.insert("Item")
        item["name"] = .string("written \(UUID())")
        item[isFirst ? "mood" : "more"] = .string("new")
        try context.save()
        try opened.close()
      }
      return nil
    }
  }

  @Test func `rows of the app's own tables count as well`() throws {
    let scene = try Scene()
    try Connection.execute("CREATE TABLE tags (name TEXT)", on: scene.store.path)
    _ = try scene.perform(.update)
    try Connection.execute("INSERT INTO tags VALUES ('a'), ('b')", on: scene.store.path)
    let kept = try #require(try scene.perform(.restore(0)))
    #expect(kept.isPinned && kept.alone.map { "\($0.entity) \($0.rows)" } == ["tags 2"])
    // The migrated store has the app's table, and not its new rows.
    _ = try scene.perform(.update)
    #expect(try scene.archive.previousVersions().first { $0.id == kept.id } == kept)
  }

  @Test(
    arguments: [
      [.update, .restore(0)], [.update, .restore(0), .update], [.update, .restore(0), .update, .restore(0)],
      [.update, .restore(0), .restore(1)], [.update, .restore(0), .restore(1), .restore(0), .update],
      [.update, .write, .restore(0), .update], [.update, .write, .restore(0), .write, .update, .restore(1)],
      [.update, .write, .restore(0), .write, .restore(1), .write, .restore(2), .update, .update],
      [.update, .write, .restore(0), .write, .update, .restore(0), .write, .update, .restore(1), .write],
    ] as [[Action]])
  func `a pin says what the version alone holds, and a version that holds nothing alone has none`(
    actions: [Action]
  ) throws {
    let scene = try Scene()
    for (number, action) in actions.enumerated() {
      let restored = try scene.perform(action)
      let versions = try scene.archive.previousVersions()
      if let restored { #expect(versions.first == restored) }
      let pictures = try versions.map { try Picture($0.storeURL) }
      let store = try Picture(scene.store)
      for (index, version) in versions.enumerated() {
        let pinned = versions.indices.filter { $0 != index && versions[$0].isPinned }.map { pictures[$0] }
        let picture = pictures[index]
        let others = [store] + pinned
        let isFirst = picture.columns.contains("ZMOOD")
        let wasReplaced = !version.alone.contains { $0.property == "mood" }
        // One of the others has to have all of it.
        let rows = others.map { picture.sole(besides: [$0]) }.min() ?? 0
        let place = "\(actions) after \(number), version \(index) of \(versions.count)"
        if version.isPinned {
          #expect(rows > 0, "\(place): \(version.alone)")
          if wasReplaced {
            #expect(version.alone.map(\.rows) == [picture.sole(besides: [store])], "\(place): \(version.alone)")
          } else {
            let moods = version.alone.filter { $0.property == "mood" }.map(\.rows)
            #expect(moods == [Int64(picture.rows.count { $0.value["ZMOOD"] != nil })], "\(place): \(version.alone)")
          }
        } else {
          // Names went on with the migration; a mood is only where the first model is.
          #expect(!isFirst || rows == 0, "\(place): \(rows)")
        }
      }
      // Of equal versions only one is pinned, the newest.
      let texts = versions.indices.filter { versions[$0].isPinned }.map { "\(pictures[$0].rows)" }
      #expect(Set(texts).count == texts.count)
    }
  }
}
