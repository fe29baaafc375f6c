internal import CHeirloomSQLite
import Foundation
import HeirloomStore
import TestSupport
import Testing

/// A database and a copy of it that statements have changed, with a record of every write.
struct ChangedCopy {
  let source: URL
  let copy: URL
  let connection: Connection
  let written: WrittenPages
  let pageSize: Int
  /// Those that statements wrote to, or made.
  private(set) var changed: Set<String> = []
  private let directory: TemporaryDirectory

  /// Copies the store in rollback mode.
  init(ofCorpusStore path: String) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(path, to: directory)
    try self.init(of: url, in: directory)
  }

  init(_ statements: [String]) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Made.sqlite")
    let connection = try Connection(path: url.path, mode: .createExclusively(), options: .building)
    for statement in statements { try connection.execute(statement) }
    try connection.close()
    try self.init(of: url, in: directory)
  }

  private init(of url: URL, in directory: TemporaryDirectory) throws {
    self.directory = directory
    source = url
    copy = directory.file("Copy.sqlite")
    connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    try connection.registerRowSum()
    #expect(try connection.firstValue("PRAGMA journal_mode = DELETE")?.text == "delete")
    try FileManager.default.copyItem(at: url, to: copy)
    pageSize = Int(try #require(try connection.firstInteger("PRAGMA page_size")))
    written = try #require(WrittenPages(pageSize: pageSize))
  }

  /// Through the layer.
  mutating func change(_ statements: [(sql: String, table: String?)]) throws {
    try connection.attach(path: copy.path, as: "copy", noting: written)
    try connection.execute("PRAGMA copy.journal_mode = OFF")
    try connection.execute("PRAGMA copy.synchronous = OFF")
    try connection.execute("BEGIN")
    for statement in statements {
      try connection.execute(statement.sql)
      if let table = statement.table { changed.insert(table) }
    }
    try connection.execute("COMMIT")
    try connection.detach("copy")
  }

  /// Through the layer, as SQLite would if it were wrong.
  func overwrite(_ bytes: [UInt8], at offset: Int64) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(
      sqlite3_open_v2(
        "file:\(copy.path)?\(written.uriParameters)", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nil)
        == SQLITE_OK)
    var file: UnsafeMutablePointer<sqlite3_file>?
    try #require(sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
    let opened = try #require(file)
    try #require(opened.pointee.pMethods.pointee.xWrite(opened, bytes, Int32(bytes.count), offset) == SQLITE_OK)
  }

  /// Past the layer, as another program would.
  func overwriteUnseen(_ bytes: [UInt8], at offset: Int64, in url: URL? = nil) throws {
    let file = try FileHandle(forWritingTo: url ?? copy)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// The check's counts, so that a test can't pass without having tested.
  struct Tally {
    var (kept, compared, walked, summed) = (0, 0, 0, 0)
  }

  /// Walks tables that were changed, compares others, and throws ``PageFault`` with the first
  /// finding.
  ///
  /// With `walksAll`, each touched tree is walked, so that only the structure is checked.
  func check(walksAll: Bool = false, tally: inout Tally) throws {
    try connection.attach(path: copy.path, as: "copy")
    defer { try? connection.detach("copy") }
    let pages = try DatabasePages(of: connection, database: "copy")
    let source = try DatabasePages(of: connection, database: "main")
    guard let check = PageCheck(pages, from: source, written: written) else {
      // A header may say that there is no map: then the proof asks SQLite.
      try #require(walksAll)
      if let finding = try findings("quick_check").first { throw PageFault(finding) }
      return
    }
    try check.followWrittenPages()
    func trees(_ database: String) throws -> [(name: String, table: String, root: Int, isIndex: Bool)] {
      try connection.rows("SELECT name, tbl_name, rootpage, type FROM \(database).sqlite_schema WHERE rootpage > 0").map
      {
        ($0[0].text ?? "", $0[1].text ?? "", Int($0[2].integer ?? 0), $0[3].text == "index")
      }
    }
    let sources = Dictionary(uniqueKeysWithValues: try trees("main").map { ($0.name, $0.root) })
    _ = try check.walkTree(root: 1)
    let trees = try trees("copy")
    for tree in trees {
      if !check.isTouched(root: tree.root) {
        try check.keep(root: tree.root, as: sources[tree.name])
        tally.kept += 1
      } else if let source = sources[tree.name], !changed.contains(tree.table), !walksAll {
        try check.compareTree(root: tree.root, with: source)
        tally.compared += 1
      } else {
        let columns = tree.isIndex ? try connection.rows("PRAGMA copy.index_xinfo(\(quote(tree.name)))") : []
        let summed = tree.isIndex || !pages.isUTF8 ? nil : try summedColumns(of: tree.table)
        let content = try check.walkTree(
          root: tree.root,
          order: tree.isIndex ? PageCheck.IndexOrder(descending: columns.map { $0[3].integer == 1 }) : nil,
          summing: summed?.map(\.place))
        let count = content.count
        if let summed {
          let sum = Connection.rowSum(ofKey: "rowid", summed.map { quote($0.name) })
          let bySQLite = try connection.firstInteger(
            "SELECT \(sum) FROM copy.\(quote(tree.table))")
          guard bySQLite == Int64(bitPattern: content.sum.value) else { throw PageFault("has another sum of rows") }
          tally.summed += 1
        }
        if try connection.firstInteger(
          "SELECT COUNT(*) FROM copy.sqlite_schema WHERE name = ?1 AND sql LIKE '% WHERE %'", [.text(tree.name)]) == 0
        {
          let rows = try connection.firstInteger("SELECT COUNT(*) FROM copy.\(quote(tree.table)) NOT INDEXED")
          guard count == rows else { throw PageFault("has \(count) entries for \(rows ?? 0) rows") }
        }
        tally.walked += 1
      }
    }
    try check.checkRest(roots: trees.map(\.root))
    try check.compareUnwrittenPages(sharing: [])
  }

  /// Every second column, with the place of its value in the records; `nil` for a table without row
  /// numbers.
  private func summedColumns(of table: String) throws -> [(name: String, place: Int)]? {
    guard
      try connection.firstInteger(
        "SELECT wr FROM pragma_table_list WHERE schema = 'copy' AND name = ?1", [.text(table)]) == 0
    else { return nil }
    // A row's number is in no record, also where a column is named for it.
    return try connection.rows("PRAGMA copy.table_info(\(quote(table)))").enumerated().compactMap { place, column in
      column[5].integer == 0 && place % 2 == 1 ? (column[1].text ?? "", place) : nil
    }
  }

  /// As they are in the file; none if SQLite can't read them.
  func schemaTexts() throws -> [SQLiteValue] {
    let other = try Connection(path: copy.path, mode: .immutable, options: .inspecting)
    do throws(SQLiteError) {
      return try other.rows("SELECT sql FROM sqlite_schema ORDER BY rowid").map { $0[0] }
    } catch {
      return []
    }
  }

  func findings(_ pragma: String) throws -> [String] {
    let other = try Connection(path: copy.path, mode: .immutable, options: .inspecting)
    do throws(SQLiteError) {
      let rows = try other.rows("PRAGMA \(pragma)").compactMap { $0[0].text }
      return rows == ["ok"] ? [] : rows
    } catch {
      return [error.message]
    }
  }
}

extension ChangedCopy {
  /// By the copy's list of free pages.
  func isFree(_ page: Int) throws -> Bool {
    let bytes = [UInt8](try Data(contentsOf: copy))
    func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    var trunk = number(32)
    while trunk != 0 {
      let start = (trunk - 1) * pageSize
      if trunk == page || (0..<number(start + 4)).contains(where: { number(start + 8 + 4 * $0) == page }) {
        return true
      }
      trunk = number(start)
    }
    return false
  }
}
