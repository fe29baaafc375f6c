import Foundation
import TestSupport
import Testing

/// A Mermaid diagram, line by line by its grammar.
struct MermaidText {
  private(set) var entities: [String] = []
  private(set) var relationships = 0
  private(set) var wrongLines: [String] = []

  init(_ text: String) {
    // This is the text that the lexer allows in quotes and that none of its other rules would take.
    let quoted = #"\x{22}(?:[A-Za-z0-9 _().,+=/\-]|[\x{C0}-\x{10FFFF}])+\x{22}"#
    let word = #"(?:[A-Za-z_]|[\x{C0}-\x{10FFFF}])(?:[A-Za-z0-9_\[\]()\-]|[\x{C0}-\x{10FFFF}])*"#
    let mark = #"(?:\["# + quoted + #"\]:::(?:added|removed|changed|renamed))?"#
    let row = "^    (?!(?:PK|FK|UK)\\b)\(word) (?!(?:PK|FK|UK|pk|fk|uk)\\b)\(word)(?: UK)?(?: \(quoted))?$"
    var isInside = false
    for (number, line) in text.split(separator: "\n").map(String.init).enumerated() {
      if number < 3 {
        let expected = ["^%% heirloom diagram$", "^erDiagram$", "^  accTitle: [^#;]+$"][number]
        if !Self.fits(line, expected) { wrongLines.append(line) }
      } else if isInside {
        if line == "  }" { isInside = false } else if !Self.fits(line, row) { wrongLines.append(line) }
      } else if Self.fits(line, "^  \(quoted)\(mark)( \\{)?$") {
        entities.append(String(line.split(separator: "\"")[1]))
        isInside = line.hasSuffix("{")
      } else if Self.fits(
        line, #"^  "# + quoted + #" (\|o|\|\||\}o|\}\|)(--|\.\.)(o\||\|\||o\{|\|\{) "# + quoted + " : \(quoted)$")
      {
        relationships += 1
      } else if !Self.fits(line, "^  classDef [a-z]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}$") {
        wrongLines.append(line)
      }
      if Self.fits(line, #"direction\s+(TB|BT|LR|RL)"#) { wrongLines.append(line) }
    }
    if isInside { wrongLines.append("no end") }
  }

  private static func fits(_ line: String, _ pattern: String) -> Bool {
    line.range(of: pattern, options: .regularExpression) != nil
  }
}

enum Graphviz {
  private static let program = ["/usr/bin/dot", "/usr/local/bin/dot", "/opt/homebrew/bin/dot"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Graphviz must draw it without a complaint; prints a note if it isn't installed.
  static func expectDrawn(_ text: String, entities: Int) throws {
    guard let program else {
      print("Graphviz is absent (apt-get install graphviz): no DOT was drawn")
      return
    }
    let directory = try TemporaryDirectory()
    let input = directory.file("model.dot")
    try Data(text.utf8).write(to: input)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-Tsvg", "-o", directory.file("model.svg").path, input.path]
    let complaints = Pipe()
    process.standardError = complaints
    try process.run()
    let said = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(said.isEmpty)
    let svg = try String(contentsOf: directory.file("model.svg"), encoding: .utf8)
    #expect(svg.components(separatedBy: "class=\"node\"").count - 1 == entities)
  }
}
