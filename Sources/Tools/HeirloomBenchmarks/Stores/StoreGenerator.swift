import Heirloom

/// Makes closed stores in Core Data's layout; equal numbers and seeds give equal bytes.
///
/// A store of N notes has N/5 persons, N/10 tags but at most 1000, and about 1.5 N tag links.
struct StoreGenerator {
  let notes: Int
  let seed: UInt64

  var persons: Int { max(1, notes / 5) }
  private var tags: Int { max(1, min(1000, notes / 10)) }

  /// In a grown store, attributes that are removed later take about two fifths of a note's bytes.
  func makeStore(isGrown: Bool = false, at path: String) throws {
    let model = isGrown ? try BenchmarkModels.notesBeforeRemovals() : try BenchmarkModels.notes()
    try Self.makeStore(of: model, at: path) { connection in
      var random = RandomSource(seed: seed)
      try insertPersons(connection, &random)
      try insertNotes(connection, &random, isGrown: isGrown)
      try insertTags(connection, &random)
      try insertLinks(connection, &random)
      let table = quote(PhysicalName.primaryKeyTable)
      for (entity, highest) in [("Note", notes), ("Person", persons), ("Tag", tags)] {
        try connection.execute(
          "UPDATE \(table) SET \(PhysicalName.maximum) = ?1 WHERE \(PhysicalName.name) = ?2",
          [.integer(Int64(highest)), .text(entity)])
      }
    }
  }

  /// `fill` inserts rows before the indexes are created.
  static func makeStore(
    of model: ManagedObjectModel, at path: String, fill: (Connection) throws -> Void = { _ in }
  ) throws {
    let connection = try Connection(path: path, mode: .createExclusively(permissions: 0o644), options: .building)
    for pragma in ["page_size = 4096", "auto_vacuum = 2", "journal_mode = OFF", "synchronous = OFF"] {
      try connection.execute("PRAGMA \(pragma)")
    }
    let schema = PhysicalSchema(model: model)
    try connection.execute("BEGIN")
    for statement in schema.tableStatements + PhysicalSchema.bookkeepingStatements { try connection.execute(statement) }
    for entity in schema.entities {
      try connection.execute(
        "INSERT INTO \(quote(PhysicalName.primaryKeyTable)) VALUES (?1, ?2, ?3, 0)",
        [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber))])
    }
    try StoreMetadata(model: model, identifier: "0B5E7C1A-9D43-4F60-8A27-5C1E3B9D7F42").write(to: connection)
    try fill(connection)
    for statement in schema.indexAndTriggerStatements { try connection.execute(statement) }
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.close()
  }

  private func insertPersons(_ connection: Connection, _ random: inout RandomSource) throws {
    let columns = ["ZAGE", "ZCREATEDAT", "ZSCORE", "ZEMAIL", "ZNAME", "ZAVATAR"]
    try Self.insert(persons, "ZPERSON", entity: 2, columns, connection) { key in
      [
        Self.number(18..<88, orNullOneIn: 10, &random), .real(Self.date(&random)),
        .real(Double(random.below(1_000_000)) / 1000 + 0.0005),
        .text("user\(key).\(random.below(100_000))@example\(random.below(50)).com"),
        .text(random.element(of: SampleWords.givenNames) + " " + random.element(of: SampleWords.familyNames)),
        .blob(Self.bytes(100, &random)),
      ]
    }
  }

  private func insertNotes(_ connection: Connection, _ random: inout RandomSource, isGrown: Bool) throws {
    let grown = [
      "ZEDITEDAT", "ZWORDCOUNT", "ZEXCERPT", "ZLATITUDE", "ZLONGITUDE", "ZLEGACYIDENTIFIER", "ZPREVIEW", "ZRATING",
    ]
    let columns = ["ZAUTHOR", "ZCREATEDAT", "ZBODY", "ZTITLE"] + (isGrown ? grown : [])
    try Self.insert(notes, "ZNOTE", entity: 1, columns, connection) { key in
      let author = Self.number(1..<persons + 1, orNullOneIn: 50, &random)
      let created = Self.date(&random)
      let edited = isGrown ? created + Double(random.below(30_000_000)) : created
      let body = Self.body(&random)
      let (first, second) = (random.element(of: SampleWords.words), random.element(of: SampleWords.words))
      let title = "\(first) \(second) \(random.below(1_000_000))"
      let row: [SQLiteValue] = [author, .real(created), .text(body), .text(title)]
      guard isGrown else { return row }
      return row + [
        .real(edited), .integer(Int64(body.utf8.count / 6)), .text(String(body.prefix(60))),
        .real(Double(random.below(180_000)) / 1000 - 89.9995),
        .real(Double(random.below(360_000)) / 1000 - 179.9995),
        .text("import-\(String(random.below(1 << 32), radix: 16, uppercase: true))-\(key)"),
        .blob(Self.bytes(64, &random)), .integer(Int64(random.below(6))),
      ]
    }
  }

  private func insertTags(_ connection: Connection, _ random: inout RandomSource) throws {
    try Self.insert(tags, "ZTAG", entity: 3, ["ZNAME"], connection) { key in
      [.text("tag-\(random.element(of: SampleWords.words))-\(key)")]
    }
  }

  private func insertLinks(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT OR IGNORE INTO Z_1TAGS (Z_1NOTES, Z_3TAGS) VALUES (?1, ?2)", isPersistent: true)
    for note in 1...notes {
      let count = random.below(4)
      let start = random.below(tags)
      for link in 0..<min(count, tags) {
        try statement.bind([.integer(Int64(note)), .integer(Int64(1 + (start + link * 7) % tags))])
        try statement.run()
      }
    }
  }

  private static func insert(
    _ count: Int, _ table: String, entity: Int, _ columns: [String], _ connection: Connection,
    values: (Int) -> [SQLiteValue]
  ) throws {
    let places = columns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
    let statement = try connection.prepare(
      "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT, \(columns.joined(separator: ", ")))"
        + " VALUES (?1, \(entity), 1, \(places))", isPersistent: true)
    for key in 1...count {
      try statement.bind([.integer(Int64(key))] + values(key))
      try statement.run()
    }
  }

  private static func number(
    _ numbers: Range<Int>, orNullOneIn count: Int, _ random: inout RandomSource
  ) -> SQLiteValue {
    random.below(count) == 0 ? .null : .integer(Int64(numbers.lowerBound + random.below(numbers.count)))
  }

  private static func bytes(_ count: Int, _ random: inout RandomSource) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }
  }

  /// In seconds since 2001-01-01 UTC.
  private static func date(_ random: inout RandomSource) -> Double {
    let seconds = Double(random.below(150_000_000))
    return 600_000_000 + seconds + Double(random.below(1000)) / 1000
  }

  private static func body(_ random: inout RandomSource) -> String {
    var body = ""
    body.reserveCapacity(320)
    let sentences = 3 + random.below(3)
    for sentence in 0..<sentences {
      if sentence > 0 { body += " " }
      for word in 0..<(5 + random.below(6)) {
        if word > 0 { body += " " }
        body += random.element(of: SampleWords.words)
      }
      body += "."
    }
    return body
  }
}
