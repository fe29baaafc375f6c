import Foundation
import Heirloom
import TestSupport
import Testing

/// Losses planted between an act and the judge's look, each of which the first few lives have to find.
struct LivesPowerTests {
  enum Loss: String, CaseIterable, Sendable {
    case pinnedVersion, releasedPin, quietValue, quietLink, equalRows, metadata, filesOfRestored, listedColumn
  }

  /// As a mistake of the product might.
  private static func make(_ loss: Loss, after act: LifeAct.Kind, _ store: URL) throws {
    switch loss {
    case .pinnedVersion, .releasedPin: try unpin(store, removes: loss == .pinnedVersion)
    case .quietValue where act == .migrate:
      try change(store, { $0.place(of: "Z_PK") != nil }) { table, content in
        content.columns.filter { $0.hasPrefix("Z") && !$0.hasPrefix("Z_") && $0 != "ZSERIAL" }.map {
          "UPDATE \(quoted(table)) SET \(quoted($0)) = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM \(quoted(table)))"
        }
      }
    case .quietLink where act == .migrate:
      try change(store, { $0.columns.count(where: { $0.hasPrefix("Z_") }) >= 2 && $0.place(of: "Z_ENT") == nil }) {
        table, content in
        content.place(of: "Z_PLIST") == nil && content.place(of: "Z_CONTENT") == nil
          ? ["DELETE FROM \(quoted(table)) WHERE rowid = (SELECT MAX(rowid) FROM \(quoted(table)))"] : []
      }
    case .equalRows where act == .restore || act == .migrate:
      try change(store, { $0.place(of: "name") != nil || $0.place(of: "text") != nil }) { table, content in
        guard table.hasPrefix(StoreFacts.appPrefix) else { return [] }
        let name = content.columns[0]
        return ["DELETE FROM \(table) WHERE rowid NOT IN (SELECT MIN(rowid) FROM \(table) GROUP BY \(name))"]
      }
    case .metadata where act == .migrate:
      try changeMetadata(store) { list, _ in list = list.filter { !$0.key.hasPrefix(StoreFacts.appPrefix) } }
    case .listedColumn where act == .migrate:
      try changeMetadata(store) { list, tables in
        let columns = tables.filter { $0.value.place(of: "Z_PK") != nil }.mapValues { table in
          table.columns.filter { !$0.hasPrefix("Z") }
        }
        list["NSPersistentStoreDeferredLightweightMigrationOptionKey"] = true
        list["HeirloomDeferredMigration"] = ["columns": columns]
      }
    case .filesOfRestored where act == .restore:
      try? FileManager.default.removeItem(
        at: store.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT"))
    default: break
    }
  }

  private static func unpin(_ store: URL, removes: Bool) throws {
    let archive = StoreArchive(storeURL: store)
    for version in try archive.previousVersions() where version.isPinned {
      if removes {
        try FileManager.default.removeItem(at: version.storeURL.deletingLastPathComponent())
      } else {
        _ = try archive.releasePreviousVersion(version.id)
      }
    }
  }

  private static func changeMetadata(
    _ store: URL, _ body: (inout [String: Any], [String: Contents.Table]) -> Void
  ) throws {
    let tables = FileManager.default.fileExists(atPath: store.path) ? try Contents(of: store.path).tables : [:]
    try change(store, { $0.place(of: "Z_PLIST") != nil }) { _, content in
      guard let place = content.place(of: "Z_PLIST"), case .blob(let bytes)? = content.rows.first?[place],
        var list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
      else { return [] }
      body(&list, tables)
      let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
      return ["UPDATE Z_METADATA SET Z_PLIST = \(Cell.blob(Array(data)).literal)"]
    }
  }

  private static func change(
    _ store: URL, _ matches: (Contents.Table) -> Bool, _ statements: (String, Contents.Table) throws -> [String]
  ) throws {
    guard FileManager.default.fileExists(atPath: store.path) else { return }
    let contents = try Contents(of: store.path)
    let database = try Database(store.path, isWritable: true)
    for (table, content) in contents.tables.sorted(by: { $0.key < $1.key }) where matches(content) {
      try database.execute(try statements(table, content))
    }
  }

  @Test(arguments: Loss.allCases)
  func `each planted loss is found by one of the first lives`(loss: Loss) throws {
    let found = try (UInt64(0)..<60).first { seed in
      try !Life(seed: seed).lived { act, store in try Self.make(loss, after: act, store) }.lost.isEmpty
    }
    #expect(found != nil, "\(loss)")
  }
}
