import Foundation
import HeirloomCommands
import HeirloomStore
import TestSupport
import Testing

/// Stores that SwiftData wrote, migrated by the Swift source of their apps.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SwiftCorpusMigrationTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let store: String
    let declarations: String
    var testDescription: String { store }
  }

  static let cases = [
    Case(
      store: "pegaseuidata-swiftdata/stores/SampleManager.store",
      declarations: "pegaseuidata-swiftdata/declarations.json"),
    Case(
      store: "metacocktails-swiftdata/stores/PreloadedCocktails.store",
      declarations: "metacocktails-swiftdata/declarations/PreloadedCocktails.json"),
    Case(
      store: "metacocktails-swiftdata/stores/default@3292fc79.store",
      declarations: "metacocktails-swiftdata/declarations/default@3292fc79.json"),
    Case(
      store: "freezeray-swiftdata/stores/App-2.0.0@40804875.sqlite",
      declarations: "freezeray-swiftdata/declarations/App-2.0.0@249d147e.json"),
  ]

  /// What changed, of which entity by name and object, and which updates say which properties.
  private static func history(of store: URL) throws -> [String] {
    let connection = try Connection(path: store.path, mode: .readWrite)
    defer { try? connection.close() }
    return try connection.rows(
      "SELECT c.Z_PK || ' ' || c.ZCHANGETYPE || ' ' || k.Z_NAME || ' ' || c.ZENTITYPK || ' ' || (c.ZCOLUMNS IS NOT NULL)"
        + " FROM ACHANGE AS c JOIN Z_PRIMARYKEY AS k ON k.Z_ENT = c.ZENTITY ORDER BY c.Z_PK"
    ).map { "\($0)" }
  }

  @Test(arguments: cases) func `a store of SwiftData gets what its source gains, and keeps rows and history`(
    _ item: Case
  ) throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let declarations = try SwiftDeclarations(item.declarations)
    // Each class gains an optional property.
    let later = declarations.source.replacing("\n  init() {", with: "\n  var addedLater: String?\n  init() {")
    for (name, text) in [("V1", declarations.source), ("V2", later)] {
      let file = directory.file("\(name)/Models.swift")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let roots = declarations.roots.joined(separator: ",")
    let store = try Corpus.copyStore(item.store, to: directory)
    let before = try Self.history(of: store)
    #expect(
      try tool("compare", store.path, "V1:\(roots)", "--json").json()["verdict"] as? String == "identical"
        || item.store.contains("freezeray"))
    let outcome = try tool("migrate", store.path, "--to", "V2:\(roots)", "--model", "V1:\(roots)", "--json").json()
    #expect(
      outcome["outcome"] as? String == "migrated" && outcome["fromName"] as? String == "\(roots) (2)", "\(outcome)")
    let rows = try #require(outcome["rows"] as? [[String: Any]])
    #expect(rows.allSatisfy { $0["before"] as? Int == $0["after"] as? Int })
    #expect(item.store.contains("freezeray") || rows.contains { ($0["after"] as? Int ?? 0) > 0 })
    #expect((outcome["losses"] as? [Any])?.isEmpty == true)
    #expect(try Self.history(of: store) == before)
    let verified = tool("verify", store.path, "--model", "V2:\(roots)")
    #expect(verified.code == 0, "\(verified)")
    #expect(tool("migrate", store.path, "--to", "V2:\(roots)").output.contains("nothing to do"))
  }
}
