import HeirloomFormats
import HeirloomModel
package import HeirloomStore

/// A verification in one read transaction, which takes no lock of Heirloom's and writes nothing.
package final class StoreVerification {
  let connection: Connection
  let path: String
  var report = StoreReport(findings: [])
  var schema: PhysicalSchema?
  var actual = ActualSchema(objects: [], tables: [])

  /// Throws ``StoreError`` if the file is not a store, or can't be opened; damage is a finding.
  ///
  /// `candidates` are sorted, most trusted first; the store's own copy of its model comes last.
  package static func report(
    onStoreAt path: String, candidates: [StoreModelCandidate] = []
  ) throws(StoreError) -> StoreReport {
    do throws(StoreError) {
      return try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
        let verification = StoreVerification(connection: connection, path: path)
        try verification.run(candidates)
        return verification.report
      }
    } catch {
      guard case .damaged(let reason) = error.problem else { throw error }
      return StoreReport(findings: [.damage(.damaged, "The database's structure is damaged: \(reason).")])
    }
  }

  private init(connection: Connection, path: String) {
    self.connection = connection
    self.path = path
  }

  private func run(_ candidates: [StoreModelCandidate]) throws(StoreError) {
    // A file that can't be opened at all is not a finding; from here on every error is one.
    do throws(SQLiteError) {
      try connection.execute("BEGIN")
      actual = try ActualSchema(of: connection)
    } catch {
      guard error.isCorrupt else { throw StoreError(error, path: path) }
      checkSize(expected: connection.headerByteCount)
      addDamage(.damaged, "The database's structure is damaged: \(error.message).")
      return
    }
    guard actual.table(named: PhysicalName.metadataTable) != nil || holdsObjects else {
      let tables = actual.tables.map(\.name).ordered()
      throw StoreError(path: path, problem: .notStore(tables: Array(tables.prefix(1000))))
    }
    checkFile()
    checkMetadata()
    findModel(candidates)
    guard let model = report.model else {
      reportPending(nil)
      report.sort()
      return
    }
    let schema = PhysicalSchema(model: model, configuration: report.configuration, actual: actual)
    self.schema = schema
    checkSchema(schema)
    checkEntityRows(schema)
    checkReferences(schema)
    for table in schema.tables {
      switch table.kind {
      case .objects(let root): checkObjects(in: table, root: root, schema)
      case .links: checkLinks(in: table, schema)
      }
    }
    checkExternalFiles(schema)
    report.sort()
  }

  /// Only stores have the table of entities.
  private var holdsObjects: Bool {
    actual.table(named: PhysicalName.primaryKeyTable) != nil
  }

  // MARK: Reporting

  func add(
    _ severity: StoreFinding.Severity, _ kind: StoreFinding.Kind, entity: String? = nil, _ message: String,
    remedies: [Remedy] = [], missingFiles: [String] = []
  ) {
    report.findings.append(
      StoreFinding(severity, kind, entity: entity, message, remedies: remedies, missingFiles: missingFiles))
  }

  func addDamage(_ kind: StoreFinding.Kind, entity: String? = nil, _ message: String) {
    let finding = StoreFinding.damage(kind, entity: entity, message)
    // Several checks read the same table; its damage is reported once.
    guard !report.findings.contains(where: { $0.kind == kind && $0.message == finding.message }) else { return }
    report.findings.append(finding)
  }

  /// An error of SQLite becomes a finding, and the result `nil`.
  func reading<Value>(
    _ what: String, entity: String? = nil, _ body: (Connection) throws(SQLiteError) -> Value
  ) -> Value? {
    do throws(SQLiteError) {
      return try body(connection)
    } catch {
      addDamage(
        .damaged, entity: entity,
        "\(what.prefix(1).uppercased() + what.dropFirst()) can't be read to the end: \(error.message).")
      return nil
    }
  }

  // MARK: The file

  private func checkSize(expected: Int64?) {
    guard let expected, let size = StoreReading.completeSize(of: path) else { return }
    if size < expected {
      addDamage(
        .truncated,
        "The file has \(size) bytes where its header says \(expected): its end is missing.")
    } else if size > expected {
      add(
        .warning, .trailingBytes,
        "The file has \(size - expected) bytes after the \(expected) in its header. SQLite ignores them; an"
          + " interrupted write may have left them.")
    }
  }

  private func checkFile() {
    let sizes = reading("the file's header") { connection throws(SQLiteError) in
      try connection.rows("SELECT c.page_count * s.page_size FROM pragma_page_count AS c, pragma_page_size AS s")
    }
    checkSize(expected: sizes?.first?.first?.integer)
    for (table, function) in actual.costlyTables.ordered(by: { $0.key < $1.key }) {
      add(
        .note, .extraTable,
        "The structure of the table \(table) is not checked: its values are computed with \(function)(), which can"
          + " take unlimited time and memory and is not run.")
    }
    let actual = actual
    let lines = reading("the database's structure") { connection throws(SQLiteError) in
      try connection.structureFaults(of: actual, by: "integrity_check", limit: 100)
    }
    for line in lines ?? [] {
      addDamage(.damaged, "SQLite's integrity check says: \(line).")
    }
  }
}

extension StoreFinding {
  static func damage(_ kind: Kind, entity: String? = nil, _ message: String) -> StoreFinding {
    StoreFinding(
      .error, kind, entity: entity,
      message + " Keep the file and those beside it as they are, and restore a previous version or a backup.",
      remedies: [.previousVersions])
  }
}

extension Connection {
  /// The main file's length by its header, in bytes, for a file that SQLite refuses to read.
  fileprivate var headerByteCount: Int64? {
    // Bytes 16 and 28: https://www.sqlite.org/fileformat2.html#the_database_header
    guard let header = readStart(byteCount: 32) else { return nil }
    return Int64(DatabaseHeader.pageSize(in: header)) * Int64(bigEndianWord(header, at: 28))
  }
}

/// As in `1 row`, `2 rows`.
func counted(_ number: Int64, _ word: String) -> String {
  let plural = word.hasSuffix("y") ? word.dropLast() + "ies" : word + (word.hasSuffix("x") ? "es" : "s")
  return "\(number) \(number == 1 ? word : String(plural))"
}

func listed(_ names: some Collection<String>) -> String {
  let rest = names.count > 8 ? " and \(names.count - 8) more" : ""
  return names.prefix(8).joined(separator: ", ") + rest
}

func isOrAre(_ count: Int64) -> String { CountText.verb("are", count) }

func has(_ count: Int64) -> String { CountText.verb("have", count) }

func refers(_ count: Int64) -> String { count == 1 ? "refers" : "refer" }
