package import Foundation
import HeirloomStore

/// An attack that makes of a store a small file that asks for far more work, or memory, than it holds.
package struct HostileSchema: Sendable {
  package let name: String
  private let change: @Sendable (inout HostileStore) throws -> Void

  init(_ name: String, _ change: @escaping @Sendable (inout HostileStore) throws -> Void) {
    (self.name, self.change) = (name, change)
  }

  /// An attack of rows of `sqlite_schema` alone.
  init(_ name: String, adding objects: @escaping @Sendable (HostileStore) -> [HostileObject]) {
    self.init(name) { store in try store.add(objects(store)) }
  }

  /// The store is in rollback mode, nobody has it open, and its table `ZITEM` has objects.
  package func apply(to url: URL) throws {
    var store = HostileStore(url: url)
    try change(&store)
  }

  /// The first version of the sample "Done" with six items.
  package static func makeStore(at url: URL) throws {
    try template.get().write(to: url)
  }

  /// Hundreds of stores are copies of these bytes.
  private static let template: Result<Data, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heirloom-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("Done.sqlite")
    let store = try PersistentStore.create(at: url, model: try FuzzSeeds.model("Done/Done.json"))
    try FuzzSeeds.fill(store)
    try store.connection.execute("PRAGMA journal_mode = DELETE")
    try store.close()
    return try Data(contentsOf: url)
  }
}

extension HostileSchema: CustomStringConvertible {
  package var description: String { name }
}

/// A row of `sqlite_schema` that nothing has checked.
struct HostileObject {
  var kind: String
  var name: String
  var table: String?
  /// `nil` for that of the items' table.
  var page: Int64? = 0
  var sql: String

  static func table(_ name: String, _ sql: String) -> HostileObject {
    HostileObject(kind: "table", name: name, page: nil, sql: sql)
  }

  static func view(_ name: String, _ sql: String) -> HostileObject {
    HostileObject(kind: "view", name: name, sql: "CREATE VIEW \(name) AS \(sql)")
  }

  static func index(_ name: String, on table: String, _ rest: String) -> HostileObject {
    HostileObject(kind: "index", name: name, table: table, page: nil, sql: "CREATE INDEX \(name) ON \(table) \(rest)")
  }

  static func trigger(_ name: String, _ event: String, on table: String, _ body: String) -> HostileObject {
    HostileObject(
      kind: "trigger", name: name, table: table,
      sql: "CREATE TRIGGER \(name) \(event) ON \(table) BEGIN \(body); END")
  }
}

/// A store that is made hostile, by SQL and by its pages.
struct HostileStore {
  let url: URL

  func run(_ script: String) throws {
    try withConnection { try $0.executeScript(script) }
  }

  func withConnection<Value>(_ body: (Connection) throws -> Value) throws -> Value {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    let value = try body(connection)
    try connection.close()
    return value
  }

  /// Existing rows of the same names go.
  func add(_ objects: [HostileObject]) throws {
    try withConnection { connection in
      try connection.execute("PRAGMA writable_schema = ON")
      let page = try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZITEM'") ?? 2
      try connection.transaction { () throws(SQLiteError) in
        let names = Set(try connection.rows("SELECT name FROM sqlite_schema").compactMap(\.first?.text))
        let insertion = try connection.prepare("INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)")
        for object in objects {
          if names.contains(object.name) {
            try connection.execute("DELETE FROM sqlite_schema WHERE name = ?1 OR tbl_name = ?1", [.text(object.name)])
          }
          try insertion.bind([
            .text(object.kind), .text(object.name), .text(object.table ?? object.name),
            .integer(object.page ?? page), .text(object.sql),
          ])
          try insertion.run()
        }
      }
    }
  }

  /// `root` is the index of the items' first page; new pages go to the end.
  func changePages(_ body: (inout [[UInt8]], _ root: Int) throws -> Void) throws {
    let root = try withConnection { connection in
      try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZITEM'")
    }
    let bytes = Array(try Data(contentsOf: url))
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    var pages = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    try body(&pages, Int(root ?? 2) - 1)
    // These bytes hold the number of pages: https://www.sqlite.org/fileformat2.html#in_header_database_size
    let count = UInt32(pages.count)
    pages[0].replaceSubrange(28..<32, with: withUnsafeBytes(of: count.bigEndian) { Array($0) })
    try Data(pages.joined()).write(to: url)
  }
}
