extension ManagedObjectContext {
  /// The prefix of the names of indexes that serve a candidate while it is built.
  static let searchIndexPrefix = "heirloom_search_"

  /// Makes sure that rows are found by a column without reading the whole table.
  ///
  /// A candidate gets its indexes last. Where nothing else helps, a temporary index serves until
  /// ``removeSearchIndexes()`` removes it.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - column: The column whose value is given.
  /// - Throws: ``ManagedObjectError``.
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

  /// Removes the indexes that were made to find rows meanwhile, at the end of a streaming context's work.
  ///
  /// - Throws: ``ManagedObjectError``.
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
