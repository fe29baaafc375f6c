import Heirloom

extension StoreGenerator {
  /// Removed attributes take about two fifths of a note's bytes.
  func makeGrownStore(at path: String) throws {
    try makeStore(of: BenchmarkModels.notesBeforeRemovals(), at: path, insertNotes: insertGrownNotes)
  }

  private func insertGrownNotes(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZCREATEDAT, ZEDITEDAT, ZBODY, ZTITLE, ZWORDCOUNT, ZEXCERPT,"
        + " ZLATITUDE, ZLONGITUDE, ZLEGACYIDENTIFIER, ZPREVIEW, ZRATING)"
        + " VALUES (?1, 1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
      isPersistent: true)
    for key in 1...notes {
      try statement.bind(Int64(key), at: 1)
      if random.below(50) == 0 {
        try statement.bindNull(at: 2)
      } else {
        try statement.bind(Int64(1 + random.below(persons)), at: 2)
      }
      let created = Self.date(&random)
      try statement.bind(created, at: 3)
      try statement.bind(created + Double(random.below(30_000_000)), at: 4)
      let body = Self.body(&random)
      try statement.bind(body, at: 5)
      let (first, second) = (random.element(of: SampleWords.words), random.element(of: SampleWords.words))
      try statement.bind("\(first) \(second) \(random.below(1_000_000))", at: 6)
      try statement.bind(Int64(body.utf8.count / 6), at: 7)
      try statement.bind(String(body.prefix(60)), at: 8)
      try statement.bind(Double(random.below(180_000)) / 1000 - 89.9995, at: 9)
      try statement.bind(Double(random.below(360_000)) / 1000 - 179.9995, at: 10)
      let digits = String(random.below(1 << 32), radix: 16, uppercase: true)
      try statement.bind("import-\(digits)-\(key)", at: 11)
      try statement.bind((0..<64).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }, at: 12)
      try statement.bind(Int64(random.below(6)), at: 13)
      try statement.run()
    }
  }
}
