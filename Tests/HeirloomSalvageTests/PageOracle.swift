import Foundation
import HeirloomSalvage
import HeirloomStore
import Testing

/// The pages of a database by SQLite's own account, its table `dbstat`.
struct PageOracle {
  struct Page {
    let name: String
    /// From the root, as `dbstat` writes it.
    let path: String
    /// `leaf`, `internal` or `overflow`.
    let kind: String
    let cells: Int64
  }

  /// Those in use, by number.
  private(set) var pages: [Int: Page] = [:]
  /// Of each table and index, in the order of the keys.
  private(set) var leaves: [String: [Int]] = [:]
  private var numbers: [String: [String: Int]] = [:]

  init(_ connection: Connection) throws {
    for row in try connection.rows("SELECT name, path, pageno, pagetype, ncell FROM dbstat ORDER BY name, path") {
      let page = Page(
        name: row[0].text ?? "", path: row[1].text ?? "", kind: row[3].text ?? "", cells: row[4].integer ?? 0)
      let number = Int(try #require(row[2].integer))
      pages[number] = page
      numbers[page.name, default: [:]][page.path] = number
      if page.kind == "leaf" { leaves[page.name, default: []].append(number) }
    }
  }

  /// Of a page in use, by https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages.
  func entry(of number: Int) throws -> PointerMap.Entry {
    let page = try #require(pages[number])
    func find(_ path: some StringProtocol) throws -> Int { try #require(numbers[page.name]?[String(path)]) }
    if page.path == "/" { return .root }
    // Below the root, a path is "/000/001/"; the pages with the rest of the second row there "/000/001/001+000000".
    guard page.kind == "overflow" else { return .tree(parent: try find(page.path.dropLast(4))) }
    let parts = page.path.split(separator: "+")
    let place = try #require(Int(parts[1], radix: 16))
    if place == 0 { return .firstOverflow(parent: try find(parts[0].dropLast(3))) }
    let before = String(place - 1, radix: 16)
    let digits = String(repeating: "0", count: 6 - before.count) + before
    return .overflow(previous: try find("\(parts[0])+\(digits)"))
  }

  func root(of name: String) -> Int? { numbers[name]?["/"] }
}

/// The pages of a database as salvage assigns them, with SQLite's view of the same file.
struct InspectedFile {
  let connection: Connection
  let image: DatabaseImage
  let map: PointerMap?
  let inspection: PageInspection
  /// The ordinary tables.
  let tables: [SourceTable]

  /// Inspects a file that has no log.
  ///
  /// `original` is the undamaged file, if this one is a damaged copy; uncertain pages may have been
  /// given back; `recognize` adds what makes rows recognizable.
  init(
    _ url: URL, original: URL? = nil, includesUncertainPages: Bool = false,
    recognize: (inout SourceTable) -> Void = { _ in }
  ) throws {
    connection = try Connection(path: (original ?? url).path, mode: .immutable, options: .inspecting)
    let file = try FileHandle(forReadingFrom: url)
    let header = try #require(DatabaseHeader(Array(try file.read(upToCount: 100) ?? Data())))
    try file.close()
    image = try DatabaseImage(path: url.path, header: header)
    map = try PointerMap(image, isDeclared: header.autoVacuums)
    inspection = try PageInspection(image: image, pointerMap: map, includesUncertainPages: includesUncertainPages)
    let actual = try ActualSchema(of: connection)
    var tables: [SourceTable] = []
    var others: Set<Int> = [1]
    var indexes: Set<Int> = []
    // A table without hidden keys is kept like an index.
    let schema = "SELECT s.name, s.rootpage, s.type, l.wr FROM sqlite_schema AS s LEFT JOIN pragma_table_list AS l"
    for row in try connection.rows("\(schema) ON l.schema = 'main' AND l.name = s.name WHERE s.rootpage > 0") {
      let root = Int(try #require(row[1].integer))
      guard row[2].text == "table" else {
        indexes.insert(root)
        continue
      }
      let table = try #require(row[0].text.flatMap { actual.table(named: $0) })
      guard row[3].integer == 0, var found = SourceTable(table, root: root) else {
        others.insert(root)
        continue
      }
      recognize(&found)
      tables.append(found)
    }
    self.tables = tables.sorted { $0.name < $1.name }
    try inspection.take(self.tables, indexRoots: indexes, otherRoots: others)
  }

  /// Each row begins with its key; `places` are those where rows were found.
  func rows(of table: SourceTable) throws -> (rows: [[SQLiteValue?]], places: Set<String>) {
    var rows: [[SQLiteValue?]] = []
    var places: Set<String> = []
    let damaged = try inspection.forEachRow(of: table) { key, values, place in
      rows.append([.integer(key)] + values.map(\.stored))
      places.insert("\(place)")
    }
    #expect(damaged == 0)
    return (rows, places)
  }

  func expectedRows(of table: SourceTable) throws -> [[SQLiteValue?]] {
    try connection.rows("SELECT rowid, * FROM \(quote(table.name)) NOT INDEXED ORDER BY rowid").map { row in
      // A whole number in a column of numbers is kept as an integer: https://www.sqlite.org/datatype3.html
      row.map { value in
        guard case .real(let number) = value, let whole = Int64(exactly: number), abs(whole) < 1 << 47 else {
          return value
        }
        return .integer(whole)
      }
    }
  }
}
