import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Questions about a store's rows, answered with one scan for each table.
struct StoreQuestions {
  /// The meaning of an answer.
  enum Finding {
    /// Content that doesn't go on as it is.
    case entry(CountedEntry)
    /// Rows that need a decision.
    case blocker(MigrationBlocker)
    /// Rows for which a decided expression gives a value.
    case computed(DataEffect, rows: Int64)
    /// A sentence about something that may surprise.
    case warning(String)
    /// A sentence about something that the store's model rules out.
    case contradiction(String)
  }

  private struct Question {
    /// An SQL aggregate over the row `s` that gives a count.
    let aggregate: String
    /// The function that makes the finding of a count that is not 0.
    let finding: (Int64) -> Finding
  }

  /// The tables that are scanned, in the order in which they were asked about.
  private(set) var tables: [String] = []
  private var questions: [String: [Question]] = [:]
  private var known: [Finding] = []
  private var separate: [(queries: [String], finding: (Int64, _ links: Int64) -> Finding)] = []

  /// Asks for a count over the rows of one table.
  ///
  /// - Parameters:
  ///   - condition: An SQL condition over the row `s`.
  ///   - table: A table of the store.
  ///   - finding: Makes the finding of a count that is not 0.
  mutating func count(where condition: String, in table: String, finding: @escaping (Int64) -> Finding) {
    ask("COUNT(CASE WHEN \(condition) THEN 1 END)", in: table, finding: finding)
  }

  /// Asks for the count of an entry.
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

  /// Asks for rows of another entity in those of the tables that hold one entity, since they are scanned anyway.
  ///
  /// - Parameter source: The schema of the store.
  mutating func countStrangers(in source: PhysicalSchema) {
    for table in tables {
      guard let number = source.onlyNumber(inTable: table) else { continue }
      count(where: "s.\(quote(PhysicalName.entity)) IS NOT \(number)", in: table) { rows in
        .contradiction("\(table) has \(rows) rows whose entity number is not \(number)")
      }
    }
  }

  /// Asks for entity numbers beside keys that are not those of the objects.
  ///
  /// - Parameter source: The schema of the store.
  mutating func countWrongKeyNumbers(in source: PhysicalSchema) {
    for correction in source.keyNumberCorrections {
      count(where: correction.condition("s"), in: correction.table) { .contradiction(correction.words($0)) }
    }
  }

  /// Asks with a query of its own.
  ///
  /// - Parameters:
  ///   - sql: A `SELECT` of one count.
  ///   - finding: Makes the finding of a count that is not 0.
  mutating func count(sql: String, finding: @escaping (Int64) -> Finding) {
    separate.append(([sql], { rows, _ in finding(rows) }))
  }

  /// Asks for links with queries of their own.
  ///
  /// - Parameters:
  ///   - queries: `SELECT`s of two counts each, of rows and of their links; both are added up.
  ///   - finding: Makes the finding of a count of rows that is not 0.
  mutating func countLinks(_ queries: [String], finding: @escaping (Int64, _ links: Int64) -> Finding) {
    separate.append((queries, finding))
  }

  /// Answers all questions.
  ///
  /// - Returns: The findings in the order of the tables and questions.
  /// - Throws: SQLite's error, such as for a column that the store doesn't have.
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
