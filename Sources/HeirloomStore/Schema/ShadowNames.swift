/// SQLite lists such tables too, but resolves all views and runs all modules for that.
struct ShadowNames {
  /// By the name of a module (https://www.sqlite.org/vtab.html#the_xshadowname_method).
  private static let endings: [String: [String]] = [
    "rtree": ["node", "parent", "rowid"], "rtree_i32": ["node", "parent", "rowid"],
    "geopoly": ["node", "parent", "rowid"], "fts3": ["content", "docsize", "segdir", "segments", "stat"],
    "fts4": ["content", "docsize", "segdir", "segments", "stat"],
    "fts5": ["config", "content", "data", "docsize", "idx"],
  ]

  private var names: Set<String> = []

  init(_ tables: [SchemaObject]) {
    for table in tables {
      for ending in table.module.flatMap({ Self.endings[$0] }) ?? [] {
        names.insert("\(table.name)_\(ending)".lowercased())
      }
    }
  }

  func contains(_ name: String) -> Bool { !names.isEmpty && names.contains(name.lowercased()) }
}

extension SchemaObject {
  var isVirtualTable: Bool {
    let words = SQLWords(sql ?? "").prefix(2).map { $0.lowercased() }
    return words == ["create", "virtual"]
  }

  fileprivate var module: String? {
    var words = SQLWords(sql ?? "").makeIterator()
    while let word = words.next() {
      if word.lowercased() == "using" { return words.next()?.lowercased() }
    }
    return nil
  }
}
