import HeirloomStore

/// The proof of a copy's pages: each is the store's own, or was written by the plan and is well-formed.
final class PageProof {
  /// The rows of each table that was read whole, with their sum if the plan has one for the table.
  private(set) var contents: [String: PageCheck.TreeContent] = [:]
  private(set) var unchanged: Set<String> = []

  private let connection: Connection
  private let plan: MigrationPlan
  private let check: PageCheck
  /// The positions of the summed values in each table's records.
  private let summed: [String: [Int]]

  private struct Tree {
    let isTable: Bool
    let name: String
    /// The table, or the index's table.
    let table: String
    let root: Int
    /// True for an index that SQLite created for a constraint of the table.
    let isOfConstraint: Bool
  }

  /// `nil` unless all writes of a copy are recorded and both files have a pointer map.
  ///
  /// Throws ``PageFault`` if the candidate is not a database.
  init?(of candidate: BuiltCandidate) throws {
    guard let written = candidate.written else { return nil }
    connection = candidate.store.connection
    plan = candidate.plan
    let source = try DatabasePages(of: connection, database: SchemaName.store)
    let copy = try DatabasePages(of: connection, database: SchemaName.candidate)
    guard let check = PageCheck(copy, from: source, written: written) else { return nil }
    self.check = check
    if let progress = candidate.progress {
      // Each page of the copy is walked or compared, and some are both.
      progress.expectPages(byteCount: 2 * Int64(copy.pageCount) * Int64(copy.pageSize))
      check.didRead = { _ = progress.count(bytes: Int64($0)) }
    }
    var summed: [String: [Int]] = [:]
    // Sums are computed from text in UTF-8.
    for case .rowSum(let table, _, _, let columns?) in plan.checks where copy.isUTF8 { summed[table] = columns }
    self.summed = summed
  }

  /// The number and the sum of the rows, as a query returns them; `nil` if they were not summed.
  func sum(of table: String) -> [SQLiteValue]? {
    guard summed[table] != nil, let content = contents[table] else { return nil }
    return [.integer(content.count), .integer(Int64(bitPattern: content.sum.value))]
  }

  /// Checks everything that was written, and that nothing else differs from the store.
  ///
  /// `shared` are the byte ranges in which both files share blocks. Throws ``PageFault`` with the
  /// first finding.
  func run(sharing shared: [Range<Int64>]) throws {
    try check.followWrittenPages()
    let trees = try trees(of: SchemaName.candidate)
    let sources = Dictionary(
      try self.trees(of: SchemaName.store).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    _ = try check.walkTree(root: 1)
    for tree in trees.filter(\.isTable) + trees.filter({ !$0.isTable }) {
      let staying = staying(tree)
      try prove(tree, staying, source: sources[staying.sourceName].flatMap { $0.isTable == tree.isTable ? $0 : nil })
    }
    try check.checkRest(roots: trees.map(\.root))
    try check.compareUnwrittenPages(sharing: shared)
  }

  /// A tree that the plan doesn't name kept its name, or is new.
  private func staying(_ tree: Tree) -> StayingObject {
    if let known = plan.staying[tree.name] { return known }
    guard tree.isOfConstraint, let table = plan.staying[tree.table],
      let number = tree.name.utf8.lastIndex(of: UInt8(ascii: "_"))
    else { return StayingObject(sourceName: tree.name, isUnwritten: false) }
    // SQLite derives its name from the table's.
    return StayingObject(
      sourceName: "sqlite_autoindex_\(table.sourceName)\(tree.name[number...])", isUnwritten: table.isUnwritten)
  }

  private func prove(_ tree: Tree, _ staying: StayingObject, source: Tree?) throws {
    do {
      guard check.isTouched(root: tree.root) else {
        try check.keep(root: tree.root, as: source?.root)
        if tree.isTable, staying.isUnwritten { unchanged.insert(tree.table) }
        return
      }
      if let source, staying.isUnwritten {
        try check.compareTree(root: tree.root, with: source.root)
        if tree.isTable { unchanged.insert(tree.table) }
      } else if tree.isTable {
        contents[tree.table] = try check.walkTree(root: tree.root, summing: summed[tree.table])
      } else {
        try proveIndex(tree)
      }
    } catch let fault as PageFault {
      throw PageFault("\(tree.name): it \(fault)")
    }
  }

  /// An index must be sorted and have as many entries as its table has rows.
  private func proveIndex(_ tree: Tree) throws {
    let candidate = quote(SchemaName.candidate)
    let columns = try connection.rows("PRAGMA \(candidate).index_xinfo(\(quote(tree.name)))")
    // Other collations are the app's own, so only SQLite can compare by them.
    let isByBytes = columns.allSatisfy { $0.count > 4 && $0[4].text == "BINARY" }
    let entries = try check.walkTree(
      root: tree.root,
      order: isByBytes ? PageCheck.IndexOrder(descending: columns.map { $0[3].integer == 1 }) : nil
    ).count
    let isPartial = try connection.rows("PRAGMA \(candidate).index_list(\(quote(tree.table)))").contains {
      $0.count > 4 && $0[1].text == tree.name && $0[4].integer == 1
    }
    let expected = try rows(of: tree.table)
    guard entries == expected || isPartial && entries < expected else {
      throw PageFault("has \(entries) entries for \(expected) rows")
    }
  }

  private func rows(of table: String) throws(SQLiteError) -> Int64 {
    if let known = contents[table] { return known.count }
    for case .rowCount(table, let rows) in plan.checks where unchanged.contains(table) { return rows }
    return try connection.firstInteger(
      "SELECT COUNT(*) FROM \(quote(SchemaName.candidate)).\(quote(table)) NOT INDEXED") ?? 0
  }

  private func trees(of database: String) throws(SQLiteError) -> [Tree] {
    try connection.rows(
      "SELECT type = 'table', name, tbl_name, rootpage, sql IS NULL FROM \(quote(database)).sqlite_schema WHERE rootpage > 0"
    ).compactMap { row in
      guard let name = row[1].text, let table = row[2].text, let root = row[3].integer else { return nil }
      return Tree(
        isTable: row[0].integer == 1, name: name, table: table, root: Int(clamping: root),
        isOfConstraint: row[4].integer == 1)
    }
  }
}
