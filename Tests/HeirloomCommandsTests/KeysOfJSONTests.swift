import Foundation
import Heirloom
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// The article about the keys of JSON, held against what every command gives and against the sources.
struct KeysOfJSONTests {
  @Test func `the article has every key that a command gives, and no other`() throws {
    var scene = try JSONScene()
    try scene.tellAll()
    let comparison = scene.comparison
    #expect(comparison.complaints.isEmpty, "\(comparison.complaints.joined(separator: "\n"))")
    let commands = try #require(try scene.tool("help", "--json").json()["commands"] as? [[String: Any]])
    #expect(Set(commands.compactMap { $0["name"] as? String }).subtracting(scene.commands).isEmpty)
    let isOfReport = { (place: String) in Self.reportTables.values.contains { place.hasPrefix("\($0).") } }
    let open = comparison.unseen.subtracting(Self.rare.keys).filter { !isOfReport($0) }
    #expect(open.isEmpty, "nothing gives \(open.sorted().joined(separator: "; "))")
    let told = Set(Self.rare.keys).subtracting(comparison.unseen)
    #expect(told.isEmpty, "not rare: \(told.sorted())")
  }

  /// Keys that no quick run gives, with the reason.
  private static let rare = [
    "a row in quarantine.positions": "objects in ordered lists",
    "a cut.key null": "tables of links that were made without keys",
    "failure.suggestion null": "errors of the system, of which nobody knows what to do",
    "inspect a store.storedChecksum null": "stores of early systems",
    "inspect a store.storedDigest null": "stores of early systems",
  ]

  @Test func `a key that is missing in the article, one too many and a wrong type are found`() throws {
    let text = """
      ### thing
      | `name` | text | its name |
      | `size` | integer or absent | its size |
      | `parts` | list of [part](#part) or null | its parts |
      ### part
      | `kind` | text | its kind |
      """
    func complaints(_ json: String) throws -> [String] {
      var comparison = JSONComparison(KeyTables(text))
      comparison.compare(try JSONReader.value(of: Array(json.utf8)), with: "thing", at: "it")
      return comparison.complaints + comparison.unseen.sorted()
    }
    #expect(try complaints(#"{"name":"a","parts":[{"kind":"b"}]}"#) == ["thing.parts null", "thing.size"])
    #expect(try complaints(#"{"name":"a","size":1,"parts":[{"kind":"b","x":1}]}"#).first == "it.parts.x is not in part")
    #expect(
      try complaints(#"{"size":1.5,"parts":null}"#).prefix(2) == [
        "it.name is missing", "it.size is no integer or absent",
      ])
  }

  /// Headlines of the tables about the report of a support mail, by the names of its types.
  private static let reportTables = [
    "DiagnosticsReport": "report.json", "System": "system", "File": "file", "Volume": "volume", "Database": "database",
    "Metadata": "metadata", "History": "known versions", "Snapshot": "archived model", "Entity": "counted entity",
    "Table": "counted table", "Finding": "finding of a report", "Operation": "operation", "Kept": "kept store",
    "Configuration": "settings", "Event": "event",
  ]

  @Test func `the article has what a report for a support mail can have`() throws {
    let tables = try KeyTables.ofArticle()
    let file = KeyTables.root.appendingPathComponent(
      "Sources/Products/HeirloomSupport/Diagnostics/DiagnosticsReport.swift")
    var keys: [String: [String: Bool]] = [:]
    var type = ""
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      if let match = line.firstMatch(of: /struct (\w+): Encodable/) { type = String(match.1) }
      guard let match = line.wholeMatch(of: /( +)var (\w+)(?:: (.+?))?(?: = .+)?/) else { continue }
      keys[match.1.count == 2 ? "DiagnosticsReport" : type, default: [:]][String(match.2)] =
        match.3?.hasSuffix("?") == true
    }
    #expect(keys.count == Self.reportTables.count)
    for (name, members) in keys {
      let types = tables.types[Self.reportTables[name] ?? ""] ?? [:]
      #expect(types.mapValues { $0.hasSuffix(" or absent") } == members, "\(name)")
    }
  }

  @Test func `the article has every key that the sources write`() throws {
    let tables = try KeyTables.ofArticle()
    let known = Set(tables.types.values.flatMap(\.keys))
    var written: Set<String> = []
    for module in ["HeirloomCommands", "HeirloomOutput", "HeirloomStories"] {
      let folder = KeyTables.root.appendingPathComponent("Sources/Tools/\(module)")
      for case let name as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
      where name.hasSuffix(".swift") {
        let source = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        for match in source.matches(of: /(?:\(|append\()\s*"([a-z]\w*)",\s*(?:\.\w|\w+[(.])/) {
          written.insert(String(match.1))
        }
      }
    }
    #expect(written.count > 150)
    #expect(written.subtracting(known).isEmpty, "\(written.subtracting(known).sorted())")
  }
}

/// The type of each key, by the headline above it.
struct KeyTables {
  static let root = Tool.snapshots.deletingLastPathComponent()

  private(set) var types: [String: [String: String]] = [:]

  init(_ text: String) {
    var headline = ""
    for line in text.split(separator: "\n") {
      if let match = line.wholeMatch(of: /##+ (.+)/) {
        headline = String(match.1)
      } else if let match = line.wholeMatch(of: /\| `(\w+)` \| (.+?) \| .+ \|/) {
        types[headline, default: [:]][String(match.1)] = String(match.2)
      }
    }
  }

  static func ofArticle() throws -> KeyTables {
    let file = root.appendingPathComponent("Sources/Heirloom/Heirloom.docc/KeysOfJSON.md")
    return KeyTables(try String(contentsOf: file, encoding: .utf8))
  }
}

/// Compares JSON with the tables, and notes what was seen.
struct JSONComparison {
  private let tables: KeyTables
  private(set) var complaints: [String] = []
  /// The keys, and the values `null` and `absent`, that nothing had yet.
  private(set) var unseen: Set<String> = []

  init(_ tables: KeyTables) {
    self.tables = tables
    for (headline, types) in tables.types {
      for (key, type) in types {
        unseen.insert("\(headline).\(key)")
        for word in type.components(separatedBy: " or ") where word == "null" || word == "absent" {
          unseen.insert("\(headline).\(key) \(word)")
        }
      }
    }
  }

  mutating func compare(_ value: JSONValue, with headline: String, at place: String) {
    guard let own = tables.types[headline], case .object(let members) = value else {
      return complaints.append("\(place) is no \(headline)")
    }
    let common = tables.types["Every command"] ?? [:]
    var isFailure = false
    if case .object? = members["error"] { isFailure = true }
    for (key, type) in own where members[key] == nil {
      if type.hasSuffix(" or absent") {
        unseen.remove("\(headline).\(key) absent")
      } else if !isFailure {
        complaints.append("\(place).\(key) is missing")
      }
    }
    for key in common.keys where members[key] == nil { unseen.remove("Every command.\(key) absent") }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      let table = own[key] != nil ? headline : "Every command"
      guard let type = own[key] ?? common[key] else {
        complaints.append("\(place).\(key) is not in \(headline)")
        continue
      }
      unseen.remove("\(table).\(key)")
      if value == .null { unseen.remove("\(table).\(key) null") }
      compare(value, type: type, at: "\(place).\(key)")
    }
  }

  private mutating func compare(_ value: JSONValue, type: String, at place: String) {
    let words = type.components(separatedBy: " or ")
    func rest(after start: String) -> String? {
      words.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }
    var kinds: Set<String> = []
    switch value {
    case .null: kinds = ["null"]
    case .boolean: kinds = ["boolean"]
    case .integer: kinds = ["integer", "number"]
    case .double: kinds = ["number"]
    case .string: kinds = ["text"]
    case .array(let elements):
      kinds = ["list"]
      if let type = rest(after: "list of ") {
        let type = type.replacing(" and ", with: " or ")
        for element in elements { compare(element, type: type, at: place) }
        return
      }
    case .object(let members):
      if let type = rest(after: "object of ") {
        for (key, value) in members { compare(value, type: type, at: "\(place).\(key)") }
        return
      }
      if let link = type.firstMatch(of: /\[(.+?)\]\(#(.+?)\)/) {
        if link.2 != link.1.replacing(" ", with: "-") { complaints.append("\(place): the link \(link.0) is wrong") }
        return compare(value, with: String(link.1), at: place)
      }
    }
    if kinds.isDisjoint(with: words), type != "any" { complaints.append("\(place) is no \(type)") }
  }
}
