import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The expression that is proposed where inference converts no value of one type to another.
struct ProposedExpressionTests: ModelMaking {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Values of each type, and what each type's values are that say the same: a table of its own.
  private static let values: [AttributeType: AttributeValue] = [
    .integer16: .integer(7), .integer32: .integer(7), .integer64: .integer(7), .double: .double(7), .float: .double(7),
    .decimal: .decimal("7"), .boolean: .boolean(true), .date: .date(7), .uri: .uri("urn:7"),
    .uuid: .uuid([UInt8](repeating: 7, count: 16)), .binary: .binary([7]), .transformable: .binary([7]),
  ]

  private static let identifier = "07070707-0707-0707-0707-070707070707"

  private static func text(of type: AttributeType) -> String {
    switch type {
    case .boolean: "1"
    case .uuid: identifier
    case .uri: "urn:7"
    default: "7"
    }
  }

  private static func expected(from source: AttributeType, to destination: AttributeType) -> SQLiteValue {
    switch (source, destination) {
    case (_, .string): .text(text(of: source))
    case (.string, .uuid): .blob([UInt8](repeating: 7, count: 16))
    // A column of decimal numbers, or of dates, keeps whole ones as integers.
    case (_, .decimal), (_, .date): .integer(source == .boolean ? 1 : 7)
    case (_, .double), (_, .float): .real(source == .boolean ? 1 : 7)
    case (_, .boolean): .integer(1)
    default: .integer(7)
    }
  }

  private static let types: [AttributeType] = [.string] + values.keys.sorted { $0.name < $1.name }

  private static func model(_ type: AttributeType) throws -> ManagedObjectModel {
    // The name is a word of the language.
    try ManagedObjectModel(entities: [entity("Note", [attribute("first", type)])])
  }

  @Test(arguments: LongTests.selection(of: types, every: 3)) func `the proposed decision converts, word for word`(
    source: AttributeType
  ) throws {
    let tool = Tool(directory: directory.url)
    var proposed: Set<String> = []
    for destination in Self.types where destination != source {
      let folder = directory.file("\(source.name)-\(destination.name)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appendingPathComponent("Store.sqlite")
      try PersistentStore.make(at: url, model: try Self.model(source)) { context in
        let note = try context.insert("Note")
        note["first"] = source == .string ? .string(Self.text(of: destination)) : Self.values[source]
        _ = try context.insert("Note")
      }
      let history = folder.appendingPathComponent("History").path
      for (number, type) in [source, destination].enumerated() {
        let snapshot = try Notebook.write(try Self.model(type), "\(number)", in: directory)
        #expect(tool.run(["snapshot", snapshot, "--history", history]).code == 0)
      }
      let command = ["migrate", url.path, "--to", history]
      let refusal = tool.run(command)
      guard refusal.code == 3 else { continue }
      let lines = refusal.error.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      let options = lines.filter { $0.hasPrefix("--decide ") }
      guard let option = options.first else { continue }
      proposed.insert(destination.name)
      let words = try #require(PrintedCommand.all(in: "heirloom migrate STORE \(option)").first).words.dropFirst(2)
      // The check names it too, and takes it.
      let check = tool.run(["check", history])
      let noted = try #require(PrintedCommand.all(in: check.output).first { $0.words.contains("--decide") })
      #expect(noted.words == ["check", history] + words, "\(check.output)")
      let plan = tool.run(["plan", url.path, "--to", history])
      #expect(plan.output.contains(option), "\(plan.output)")
      let run = tool.run(command + words)
      #expect(run.code == 0, "\(source.name) → \(destination.name): \(run.output)\(run.error)")
      let connection = try Connection(reading: url)
      let rows = try connection.rows("SELECT ZFIRST FROM ZNOTE ORDER BY Z_PK")
      #expect(
        rows == [[Self.expected(from: source, to: destination)], [.null]], "\(source.name) → \(destination.name)")
      try connection.close()
      // What the check names, one after the other, ends in none.
      var followed: [[String]] = []
      while tool.run(["check", history]).code != 0 {
        let check = tool.run(["check", history]).output
        let next = try #require(PrintedCommand.all(in: check).first { $0.words.first == "check" }, "\(check)").words
        try #require(!followed.contains(next), "\(check)")
        followed.append(next)
        #expect(tool.run(next).code != 2, "\(next)")
      }
    }
    #expect(proposed.isEmpty == [.binary, .transformable].contains(source), "\(source.name): \(proposed)")
  }
}
