extension ManagedObjectContext {
  static let searchIndexPrefix = "heirloom_search_"

  /// A candidate gets its indexes last: until then, a temporary one is created if none helps.
  func prepareSearch(in table: String, by column: String) throws(ManagedObjectError) {
    guard isStreaming, store.isView, !store.isReadOnly, searches.insert([table, column]).inserted else { return }
    let number = searches.count
    try sql { () throws(SQLiteError) in
      let isIndexed = try store.connection.firstInteger(
        "SELECT 1 FROM pragma_index_list(?1, ?2) AS l, pragma_index_info(l.name, ?2) AS c"
          + " WHERE c.seqno = 0 AND c.name = ?3 LIMIT 1",
        [.text(table), .text(store.database), .text(column)])
      guard isIndexed == nil else { return }
      try store.connection.execute(
        "CREATE INDEX \(quote(store.database)).\(quote("\(Self.searchIndexPrefix)\(number)")) ON \(quote(table))"
          + " (\(quote(column)))")
    }
  }

  /// At the end of a streaming context's work.
  package func removeSearchIndexes() throws(ManagedObjectError) {
    guard !searches.isEmpty else { return }
    searches.removeAll()
    try sql { () throws(SQLiteError) in
      let names = try store.connection.rows(
        "SELECT name FROM \(store.qualified("sqlite_master")) WHERE type = 'index' AND name GLOB ?1",
        [.text(Self.searchIndexPrefix + "*")])
      for name in names.compactMap({ $0[0].text }) {
        try store.connection.execute("DROP INDEX \(quote(store.database)).\(quote(name))")
      }
    }
  }
}
