/// The names of the tables in which virtual tables keep their rows.
///
/// SQLite lists them too, but resolves all views of a file for that, and runs the modules of its virtual tables.
struct ShadowNames {
  /// The endings by the name of a virtual table's module.
  ///
  /// https://www.sqlite.org/vtab.html#the_xshadowname_method
  private static let endings: [String: [String]] = [
    "rtree": ["node", "parent", "rowid"], "rtree_i32": ["node", "parent", "rowid"],
    "geopoly": ["node", "parent", "rowid"], "fts3": ["content", "docsize", "segdir", "segments", "stat"],
    "fts4": ["content", "docsize", "segdir", "segments", "stat"],
    "fts5": ["config", "content", "data", "docsize", "idx"],
  ]

  private var names: Set<String> = []

  /// Lists the names that belong to virtual tables.
  init(_ tables: [SchemaObject]) {
    for table in tables {
      for ending in table.module.flatMap({ Self.endings[$0] }) ?? [] {
        names.insert("\(table.name)_\(ending)".lowercased())
      }
    }
  }

  /// Returns true if a table holds rows of a virtual one.
  func contains(_ name: String) -> Bool { !names.isEmpty && names.contains(name.lowercased()) }
}

extension SchemaObject {
  /// True if the statement creates a virtual table.
  var isVirtualTable: Bool {
    let words = SQLWords(sql ?? "").prefix(2).map { $0.lowercased() }
    return words == ["create", "virtual"]
  }

  /// The name of a virtual table's module; `nil` if the statement names none.
  fileprivate var module: String? {
    var words = SQLWords(sql ?? "").makeIterator()
    while let word = words.next() {
      if word.lowercased() == "using" { return words.next()?.lowercased() }
    }
    return nil
  }
}
