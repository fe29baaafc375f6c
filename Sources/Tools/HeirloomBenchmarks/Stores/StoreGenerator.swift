import Heirloom

/// Makes closed stores in Core Data's layout; equal numbers and seeds give equal bytes.
///
/// A store of N notes has N/5 persons, N/10 tags but at most 1000, and about 1.5 N tag links.
struct StoreGenerator {
  /// At least 1.
  let notes: Int
  let seed: UInt64

  var persons: Int { max(1, notes / 5) }
  private var tags: Int { max(1, min(1000, notes / 10)) }

  func makeStore(at path: String) throws {
    try makeStore(of: BenchmarkModels.notes(), at: path, insertNotes: insertNotes)
  }

  /// In `model`, notes may have more properties.
  func makeStore(
    of model: ManagedObjectModel, at path: String, insertNotes: (Connection, inout RandomSource) throws -> Void
  ) throws {
    try Self.makeStore(of: model, at: path) { connection in
      var random = RandomSource(seed: seed)
      try insertPersons(connection, &random)
      try insertNotes(connection, &random)
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

  // MARK: Rows

  private func insertPersons(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZAGE, ZCREATEDAT, ZSCORE, ZEMAIL, ZNAME, ZAVATAR)"
        + " VALUES (?1, 2, 1, ?2, ?3, ?4, ?5, ?6, ?7)", isPersistent: true)
    for key in 1...persons {
      try statement.bind(Int64(key), at: 1)
      if random.below(10) == 0 {
        try statement.bindNull(at: 2)
      } else {
        try statement.bind(Int64(18 + random.below(70)), at: 2)
      }
      try statement.bind(Self.date(&random), at: 3)
      try statement.bind(Double(random.below(1_000_000)) / 1000 + 0.0005, at: 4)
      try statement.bind("user\(key).\(random.below(100_000))@example\(random.below(50)).com", at: 5)
      let given = random.element(of: SampleWords.givenNames)
      try statement.bind(given + " " + random.element(of: SampleWords.familyNames), at: 6)
      try statement.bind((0..<100).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }, at: 7)
      try statement.run()
    }
  }

  private func insertNotes(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZCREATEDAT, ZBODY, ZTITLE) VALUES (?1, 1, 1, ?2, ?3, ?4, ?5)",
      isPersistent: true)
    for key in 1...notes {
      try statement.bind(Int64(key), at: 1)
      if random.below(50) == 0 {
        try statement.bindNull(at: 2)
      } else {
        try statement.bind(Int64(1 + random.below(persons)), at: 2)
      }
      try statement.bind(Self.date(&random), at: 3)
      try statement.bind(Self.body(&random), at: 4)
      let first = random.element(of: SampleWords.words)
      let second = random.element(of: SampleWords.words)
      try statement.bind("\(first) \(second) \(random.below(1_000_000))", at: 5)
      try statement.run()
    }
  }

  private func insertTags(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, 3, 1, ?2)", isPersistent: true)
    for key in 1...tags {
      try statement.bind(Int64(key), at: 1)
      try statement.bind("tag-\(random.element(of: SampleWords.words))-\(key)", at: 2)
      try statement.run()
    }
  }

  private func insertLinks(_ connection: Connection, _ random: inout RandomSource) throws {
    let statement = try connection.prepare(
      "INSERT OR IGNORE INTO Z_1TAGS (Z_1NOTES, Z_3TAGS) VALUES (?1, ?2)", isPersistent: true)
    for note in 1...notes {
      let count = random.below(4)
      let start = random.below(tags)
      for link in 0..<min(count, tags) {
        try statement.bind(Int64(note), at: 1)
        try statement.bind(Int64(1 + (start + link * 7) % tags), at: 2)
        try statement.run()
      }
    }
  }

  /// In seconds since 2001-01-01 UTC.
  static func date(_ random: inout RandomSource) -> Double {
    let seconds = Double(random.below(150_000_000))
    return 600_000_000 + seconds + Double(random.below(1000)) / 1000
  }

  static func body(_ random: inout RandomSource) -> String {
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
