import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Questions about a store's rows, answered with one scan for each table.
struct StoreQuestions {
  enum Finding {
    case entry(CountedEntry)
    case blocker(MigrationBlocker)
    /// Rows for which a decided expression computes a value.
    case computed(DataEffect, rows: Int64)
    case warning(String)
    /// Stops the plan: content contradicts the store's model.
    case contradiction(String)
  }

  private struct Question {
    let aggregate: String
    let finding: (Int64) -> Finding
  }

  /// In the order of their first questions.
  private(set) var tables: [String] = []
  private var questions: [String: [Question]] = [:]
  private var known: [Finding] = []
  private var separate: [(queries: [String], finding: (Int64, _ links: Int64) -> Finding)] = []

  mutating func count(where condition: String, in table: String, finding: @escaping (Int64) -> Finding) {
    ask("COUNT(CASE WHEN \(condition) THEN 1 END)", in: table, finding: finding)
  }

  mutating func ask(_ asked: AskedEntry) {
    func finding(_ rows: Int64, links: Int64? = nil) -> Finding {
      .entry(CountedEntry(entry: asked.entry, rows: rows, links: links))
    }
    switch asked.count {
    case .known(let rows): known.append(finding(rows))
    case .rows(let condition, let table): count(where: condition, in: table) { finding($0) }
    case .values(let column, let table): ask("COUNT(\(column))", in: table) { finding($0) }
    case .query(let sql): count(sql: sql) { finding($0) }
    case .links(let queries): countLinks(queries) { finding($0, links: $1) }
    }
  }

  private mutating func ask(_ aggregate: String, in table: String, finding: @escaping (Int64) -> Finding) {
    if questions[table] == nil { tables.append(table) }
    questions[table, default: []].append(Question(aggregate: aggregate, finding: finding))
  }

  /// Asks for rows of other entities in tables that hold one entity, if these are scanned anyway.
  mutating func countStrangers(in source: PhysicalSchema) {
    for table in tables {
      guard let number = source.onlyNumber(inTable: table) else { continue }
      count(where: "s.\(quote(PhysicalName.entity)) IS NOT \(number)", in: table) { rows in
        .contradiction("\(table) has \(rows) rows whose entity number is not \(number)")
      }
    }
  }

  mutating func countWrongKeyNumbers(in source: PhysicalSchema) {
    for correction in source.keyNumberCorrections {
      count(where: correction.condition("s"), in: correction.table) { .contradiction(correction.words($0)) }
    }
  }

  mutating func count(sql: String, finding: @escaping (Int64) -> Finding) {
    separate.append(([sql], { rows, _ in finding(rows) }))
  }

  /// Each query returns two counts, of rows and of their links; both are summed.
  mutating func countLinks(_ queries: [String], finding: @escaping (Int64, _ links: Int64) -> Finding) {
    separate.append((queries, finding))
  }

  func answers(from connection: Connection) throws(SQLiteError) -> [Finding] {
    var findings = known
    for table in tables {
      let asked = questions[table] ?? []
      // SQLite allows 2000 result columns.
      for start in stride(from: 0, to: asked.count, by: 500) {
        let part = asked[start..<min(start + 500, asked.count)]
        let aggregates = part.map(\.aggregate).joined(separator: ", ")
        let row = try connection.rows(
          "SELECT \(aggregates) FROM \(SchemaName.rows(of: table, as: "s"))"
        ).first
        for (question, value) in zip(part, row ?? []) {
          if let count = value.integer, count > 0 { findings.append(question.finding(count)) }
        }
      }
    }
    for (queries, finding) in separate {
      var (count, links) = (Int64(0), Int64(0))
      for sql in queries {
        let row = try connection.rows(sql).first ?? []
        count += row.first?.integer ?? 0
        links += row.dropFirst().first?.integer ?? 0
      }
      if count > 0 { findings.append(finding(count, links)) }
    }
    return findings
  }
}
