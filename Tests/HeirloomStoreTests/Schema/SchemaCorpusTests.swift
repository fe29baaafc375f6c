import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SchemaCorpusTests {
  @Test(arguments: CorpusStore.paths)
  func `names, types and numbers of real stores follow from their models`(path: String) throws {
    let store = try CorpusStore(path)
    let actual = try ActualSchema(of: store.connection)
    let schema = PhysicalSchema(model: store.model, actual: actual)
    var missing: [String] = []
    for drift in actual.drift(from: schema) {
      switch drift {
      case .missingIndex(let name): missing.append(name)
      default: Issue.record("\(drift)")
      }
    }
    // Framework 847 brought today's names of indexes. A join table that Core Data renamed after its other side has its
    // index under the old name.
    if store.frameworkVersion >= 847 {
      #expect(missing.filter { !$0.contains("TRUSTEDBYCLIENTS_") } == [])
    }
    // The name of a renamed entity stays, so numbers and parents count.
    let rows = try store.connection.rows(
      "SELECT Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
    #expect(rows == schema.entities.map { [.integer(Int64($0.number)), .integer(Int64($0.superentityNumber))] })
    let names = Set(
      try store.connection.rows("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000").compactMap(\.first?.text))
    #expect(names.subtracting(schema.entities.map(\.name)).isSubset(of: ["ExpensiveSportCar"]))
  }

  @Test(arguments: CorpusStore.paths)
  func `a table that was not altered later has exactly the expected statement`(path: String) throws {
    let store = try CorpusStore(path)
    let actual = try ActualSchema(of: store.connection)
    let schema = PhysicalSchema(model: store.model, actual: actual)
    var compared = 0
    for table in schema.tables {
      let sql = try #require(actual.object(.table, named: table.name)?.normalizedSQL)
      // ALTER TABLE appends columns without the space that Core Data writes before the parenthesis.
      guard sql.hasSuffix(" )") || sql.hasSuffix("))") else { continue }
      // Old frameworks put uniqueness constraints into the table.
      let plain = sql.replacingOccurrences(of: #", CONSTRAINT .*\)\)$"#, with: " )", options: .regularExpression)
      #expect(plain == table.sql)
      compared += 1
    }
    #expect(compared > 0)
  }

  @Test(arguments: CorpusStore.paths)
  func `nothing in a real store is taken for the app's own`(path: String) throws {
    let store = try CorpusStore(path)
    let actual = try ActualSchema(of: store.connection)
    let schema = PhysicalSchema(model: store.model, actual: actual)
    let ownership = actual.ownership(under: schema)
    #expect(ownership.filter { $0.ownership == .foreign }.map(\.object.name) == [])
    #expect(ownership.filter { $0.ownership == .bookkeeping }.count == 3)
    #expect(ownership.filter { $0.ownership == .leftover && $0.object.kind != .index }.map(\.object.name) == [])
  }
}
