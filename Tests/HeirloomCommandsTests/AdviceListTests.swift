import Foundation
import TestSupport
import Testing

/// The list of all advice in the sources: each sentence with a command or an option of the tool is run by a test, or
/// isn't advice.
@Suite(.enabled(if: Checkout.hasSources, "the sources aren't beside the tests"))
struct AdviceListTests {
  /// A text in the sources, which may consist of several literals that are added.
  struct Literal {
    let file: String
    let line: Int
    let text: String

    var isAdvice: Bool {
      if text.wholeMatch(of: /--[a-z-]+/) != nil { return false }
      let commands = text.matches(of: /\bheirloom ([a-z]+(-[a-z]+)*)/).map { String($0.1) }
      let options = text.matches(of: /--[a-z]+(-[a-z]+)*/).map { String($0.0) }
      return commands.contains(where: PrintedCommand.commands.contains)
        || options.contains(where: PrintedCommand.options.contains)
    }
  }

  @Test func `every sentence with a command in the sources is in the list, and the list has no other`() throws {
    let advice = try Self.literals().filter(\.isAdvice)
    #expect(advice.count > 100)
    for literal in advice {
      let entries = AdviceList.entries.filter { $0.matches(literal) }
      #expect(!entries.isEmpty, "\(literal.file):\(literal.line) is not in the list: \(literal.text)")
    }
    for entry in AdviceList.entries {
      #expect(advice.contains(where: entry.matches), "\(entry.file): no source says \"\(entry.text)\" any more")
    }
  }

  @Test func `no command in the sources leaves a value to the reader`() throws {
    let help = AdviceList.entries.filter { if case .noAdvice = $0.proof { true } else { false } }
    for literal in try Self.literals() where literal.isAdvice && !help.contains(where: { $0.matches(literal) }) {
      // What an interpolation computes is no word of the sentence.
      let text = literal.text.replacing(/\\\([^)]*\)/, with: "x")
      let word = text.firstMatch(of: /\b(MODEL|STORE|FILE|HISTORY|FOLDER|VERSION|ID|SOURCE|DEST|[A-Z]+\.[A-Z]+)\b/)
      #expect(word == nil, "\(literal.file):\(literal.line): \(literal.text)")
    }
  }

  @Test func `each entry is run by a test that is there`() throws {
    let situations = AdviceTests.situations.map(\.testDescription)
    #expect(Set(situations).count == situations.count)
    let tests = try Self.sources(under: "Tests").map(\.text).joined()
    var used: Set<String> = []
    for entry in AdviceList.entries {
      switch entry.proof {
      case .situation(let name):
        used.insert(name)
        #expect(situations.contains(name), "\(entry.file), \(entry.text): \(name)")
      case .test(let name): #expect(tests.contains("func `\(name)`"), "\(entry.file), \(entry.text): \(name)")
      case .noAdvice(let reason): #expect(!reason.isEmpty)
      }
    }
    #expect(used.isSubset(of: situations))
  }

  // MARK: - The sources

  private static func sources(under folder: String) throws -> [(file: String, text: String)] {
    let url = Checkout.root.appendingPathComponent(folder)
    let names = (FileManager.default.enumerator(atPath: url.path) ?? .init()).compactMap { $0 as? String }
    return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
      (name, try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8))
    }
  }

  /// Of all sources but the benchmarks, without those of a command's own help.
  private static func literals() throws -> [Literal] {
    let sources = try sources(under: "Sources").filter { file, text in
      !file.hasPrefix("Tools/HeirloomBenchmarks") && (text.contains("heirloom ") || text.contains("--"))
    }
    return sources.flatMap { file, text in
      var reader = LiteralReader(text)
      return reader.literals().map { Literal(file: file, line: $0.line, text: $0.text) }
    }
  }
}

private enum Checkout {
  static let root = Tool.snapshots.deletingLastPathComponent()
  static let hasSources = FileManager.default.fileExists(atPath: root.appendingPathComponent("Sources").path)
}

struct LiteralReader {
  private let bytes: [UInt8]
  private var position = 0
  private var found: [(start: Int, end: Int)] = []

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Added literals are one; those inside of `Command(…)` and `Option(…)` are left out.
  mutating func literals() -> [(line: Int, text: String)] {
    while position < bytes.count { step() }
    let declarations = declarations()
    var joined: [(start: Int, end: Int, text: String)] = []
    for literal in found {
      let text = String(decoding: bytes[literal.start..<literal.end].drop { $0 == quote }, as: UTF8.self)
      let words = String(text.reversed().drop { $0 == "\"" }.reversed())
      if let last = joined.last, isAddition(bytes[last.end..<literal.start]) {
        joined[joined.count - 1] = (last.start, literal.end, last.text + words)
      } else {
        joined.append((literal.start, literal.end, words))
      }
    }
    return joined.filter { literal in !declarations.contains { $0.contains(literal.start) } }.map { literal in
      (bytes[..<literal.start].count { $0 == UInt8(ascii: "\n") } + 1, literal.text)
    }
  }

  private let quote = UInt8(ascii: "\"")

  private func isAddition(_ between: ArraySlice<UInt8>) -> Bool {
    String(decoding: between, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) == "+"
  }

  private func starts(_ text: String, at place: Int) -> Bool { bytes[place...].starts(with: text.utf8) }

  /// Goes past one byte, a comment or a literal.
  private mutating func step() {
    let slash = UInt8(ascii: "/")
    if bytes[position] == slash, position + 1 < bytes.count, bytes[position + 1] == slash {
      position = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    } else if bytes[position] == quote {
      let start = position
      position = end(ofLiteralAt: start)
      found.append((start, position))
    } else {
      position += 1
    }
  }

  /// Interpolations may have literals of their own.
  private func end(ofLiteralAt start: Int) -> Int {
    let isLong = starts("\"\"\"", at: start)
    var place = start + (isLong ? 3 : 1)
    while place < bytes.count {
      if bytes[place] == quote, !isLong || starts("\"\"\"", at: place) { return place + (isLong ? 3 : 1) }
      guard bytes[place] == UInt8(ascii: "\\") else {
        place += 1
        continue
      }
      place += 2
      guard place <= bytes.count, bytes[place - 1] == UInt8(ascii: "(") else { continue }
      place = end(ofParenthesesBefore: place)
    }
    return bytes.count
  }

  private func end(ofParenthesesBefore start: Int) -> Int {
    var (place, depth) = (start, 1)
    while place < bytes.count, depth > 0 {
      switch bytes[place] {
      case quote: place = end(ofLiteralAt: place)
      case UInt8(ascii: "("): (place, depth) = (place + 1, depth + 1)
      case UInt8(ascii: ")"): (place, depth) = (place + 1, depth - 1)
      default: place += 1
      }
    }
    return place
  }

  /// Commands and options, whose texts are help.
  private func declarations() -> [Range<Int>] {
    ["Command(", "Option("].flatMap { word in
      bytes.indices.filter {
        bytes[$0] == word.utf8.first && starts(word, at: $0) && ($0 == 0 || " [\n=(".utf8.contains(bytes[$0 - 1]))
      }.map { start in
        start..<end(ofParenthesesBefore: start + word.utf8.count)
      }
    }
  }
}
