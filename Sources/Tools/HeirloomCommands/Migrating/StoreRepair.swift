import Foundation
import Heirloom
import HeirloomSupport

/// Repairs bookkeeping that contradicts the store's rows and model: entity numbers, the table of
/// entities, and missing indexes.
struct StoreRepair {
  let path: String
  let console: Console
  let check: StoreCheck

  struct Outcome {
    /// A clause for each repaired thing.
    let words: [String]
    /// Keeps the unrepaired store.
    let previous: PreviousVersion
  }

  init(of path: String, models: [String], console: Console) throws {
    (self.path, self.console) = (path, console)
    check = try StoreCheck(of: path, models: models, console: console)
  }

  /// `nil` if there is nothing to repair; if it throws, the store is unchanged.
  func run() throws -> Outcome? {
    let report = check.report
    // A store that SQLite can't read completely needs a salvage.
    guard let model = report.model, report.isModelFit, report.findings.contains(where: \.isForRepair),
      !report.findings.contains(where: { $0.kind == .damaged })
    else { return nil }
    var configuration = MigrationAssistant.Configuration()
    configuration.storeTimeout = console.storeTimeout
    let archive = StoreArchive(storeURL: URL(fileURLWithPath: path), configuration: configuration)
    console.progress.begin("Repairing")
    return try console.interruption.cancelling(archive.progress) {
      let (words, previous) = try archive.replaceStore { copy in
        try copy.correctNumbers(by: model, path: path) + correctBookkeeping(of: copy, schema(of: copy, model))
      } proving: { connection in
        try prove(connection, schema(of: connection, model))
      }
      return Outcome(words: words, previous: previous)
    }
  }

  private func schema(of connection: Connection, _ model: ManagedObjectModel) throws -> PhysicalSchema {
    PhysicalSchema(
      model: model, configuration: check.report.configuration, actual: try ActualSchema(of: connection))
  }

  private func correctBookkeeping(of copy: Connection, _ schema: PhysicalSchema) throws -> [String] {
    let (number, maximum, list) = (
      quote(PhysicalName.entity), quote(PhysicalName.maximum), PhysicalName.primaryKeyTable
    )
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum].map(quote)
    var words: [String] = []
    for correction in try EntityListCorrection.all(in: copy, schema, ActualSchema(of: copy)) {
      if correction.wrongName != nil {
        try copy.execute(
          "UPDATE \(list) SET \(quote(PhysicalName.name)) = ?2 WHERE \(number) = ?1",
          [.integer(Int64(correction.number)), .text(correction.entity)])
      }
      if let parent = correction.parent {
        try copy.execute(
          "UPDATE \(list) SET \(quote(PhysicalName.superentity)) = ?2 WHERE \(number) = ?1",
          [.integer(Int64(correction.number)), .integer(Int64(parent))])
      }
      words.append(correction.words)
    }
    for entity in schema.entities {
      try copy.execute(
        "INSERT INTO \(list) (\(columns.joined(separator: ", "))) SELECT ?1, ?2, ?3, 0"
          + " WHERE NOT EXISTS (SELECT 1 FROM \(list) WHERE \(number) = ?1)",
        [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber))])
      if copy.changes > 0 { words.append("\(list) has no row for \(entity.name): it gets the number \(entity.number)") }
    }
    let actual = try ActualSchema(of: copy)
    for row in try copy.rows("SELECT \(number), \(quote(PhysicalName.name)), \(maximum) FROM \(list)") {
      let entity = row[0].integer.flatMap { Int(exactly: $0) }.flatMap { schema.entity(numbered: $0) }
      let table =
        entity.map { $0.superentityNumber == 0 ? $0.table : nil } ?? row[1].text.flatMap(ActualSchema.historyTable)
      guard let table, actual.table(named: table)?.column(named: PhysicalName.primaryKey) != nil else { continue }
      let highest =
        try copy.firstInteger("SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(quote(table)) NOT INDEXED") ?? 0
      let record = row[2].integer
      guard PhysicalEntity.isWrong(record: record, highest: highest) else { continue }
      try copy.execute("UPDATE \(list) SET \(maximum) = ?2 WHERE \(number) = ?1", [row[0], .integer(highest)])
      let name = entity?.name ?? row[1].text ?? ""
      words.append(PhysicalEntity.words(ofRecord: record, of: name, highest: highest, in: table))
    }
    for index in try copy.indexesToMake(of: schema, actual) {
      try copy.execute(index.sql)
      words.append("the index \(index.name) on \(index.table) is missing: it is made")
    }
    return words
  }

  /// Throws if anything but the repaired content has changed.
  private func prove(_ connection: Connection, _ schema: PhysicalSchema) throws {
    let actual = try ActualSchema(of: connection)
    var changed = [
      PhysicalName.primaryKeyTable: [PhysicalName.maximum], PhysicalName.metadataTable: [PhysicalName.propertyList],
    ]
    let entities = try EntityListCorrection.all(in: connection, schema, actual)
    if entities.contains(where: { $0.wrongName != nil }) {
      changed[PhysicalName.primaryKeyTable, default: []].append(PhysicalName.name)
    }
    if entities.contains(where: { $0.parent != nil }) {
      changed[PhysicalName.primaryKeyTable, default: []].append(PhysicalName.superentity)
    }
    for correction in schema.numberCorrections {
      changed[correction.table, default: []].append(correction.column)
    }
    var faults: [String] = []
    for table in actual.tables where !table.isVirtual && actual.costlyTables[table.name] == nil {
      let own = changed[table.name] ?? []
      let columns = table.columns.map(\.name).filter { !own.contains($0) }.map { "\(quote($0)) COLLATE BINARY" }
        .joined(separator: ", ")
      func rows(_ database: String) -> String { "FROM \(quote(database)).\(quote(table.name)) NOT INDEXED" }
      let isWhole =
        try columns.isEmpty
        || connection.firstInteger(
          "SELECT COUNT(*) FROM (SELECT \(columns) \(rows("main")) EXCEPT SELECT \(columns) \(rows("candidate")))") == 0
      let counts = try ["main", "candidate"].map { try connection.firstInteger("SELECT COUNT(*) \(rows($0))") }
      let isSameCount = table.name == PhysicalName.primaryKeyTable || counts[0] == counts[1]
      if !isWhole || !isSameCount { faults.append("the table \(table.name) has other rows") }
    }
    let candidate = try connection.rows("PRAGMA database_list").first { $0[1].text == "candidate" }?[2].text ?? ""
    let model = StoreModelCandidate(source: .file(path), model: schema.model, isGiven: true)
    let left = try StoreVerification.report(onStoreAt: candidate, candidates: [model]).findings
      .filter { $0.isForRepair || $0.kind == .damaged }
    faults += left.map { ErrorWords.clause($0.message) }
    guard faults.isEmpty else { throw MigrationError.proofFailed(findings: faults) }
  }
}
