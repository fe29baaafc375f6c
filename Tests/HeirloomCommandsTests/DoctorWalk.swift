import Foundation
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// A person who does what `doctor` says until it says nothing more.
struct DoctorWalk {
  let tool: Tool
  let store: String
  /// The words after the store, such as a model.
  var options: [String] = []

  struct End {
    /// The commands that were run, without the names of new files.
    let steps: [[String]]
    let text: String
    /// True if `doctor` names no command any more, false if the last one shows a store that is well, or has warnings.
    let isSentence: Bool

    var commands: [String] { steps.filter { $0[0] == "heirloom" }.map { $0[1] } }
  }

  /// Follows the advice, at most four commands of it, none of which may come twice.
  func run(at location: SourceLocation = #_sourceLocation) throws -> End {
    var steps: [[String]] = []
    while true {
      let json = try tool.run(["doctor", store, "--json"] + options).json()
      let text = tool.run(["doctor", store] + options).output
      guard let next = json["next"] as? String else {
        #expect(text.contains("\n  next      "), "\(text)", sourceLocation: location)
        return End(steps: steps, text: text, isSentence: true)
      }
      for command in [json["before"] as? String, next].compactMap(\.self) {
        // The name of a file that is made says nothing about the advice.
        let words = try Self.words(of: command)
        let advice = Array(words.prefix { $0 != "--output" })
        try #require(!steps.contains(advice), "\(steps) and again \(advice): \(text)", sourceLocation: location)
        steps.append(advice)
        try #require(steps.count <= 4, "\(steps): \(text)", sourceLocation: location)
        try follow(words, text, at: location)
      }
      if ["inspect", "versions", "verify"].contains(try Self.words(of: next)[1]) {
        if next.hasPrefix("heirloom verify") {
          #expect(!text.contains("error  "), "\(text)", sourceLocation: location)
        }
        return End(steps: steps, text: text, isSentence: false)
      }
    }
  }

  private func follow(_ words: [String], _ text: String, at location: SourceLocation) throws {
    guard words.first == "heirloom" else {
      #expect(
        try Self.shell(words.map(shellWord).joined(separator: " ")).code == 0, "\(words)", sourceLocation: location)
      return
    }
    let outcome = tool.run(Array(words.dropFirst()))
    let codes: Set<Int32> = ["salvage", "verify"].contains(words[1]) ? [0, 6] : [0]
    #expect(codes.contains(outcome.code), "\(words): \(outcome)\n\(text)", sourceLocation: location)
    // What a salvage prints puts the new store in the damaged one's place.
    guard words[1] == "salvage", outcome.output.contains("To use it in the store's place") else { return }
    for line in outcome.output.split(separator: "\n")
    where ["  mkdir ", "  mv ", "  cp "].contains(where: line.hasPrefix) {
      #expect(try Self.shell(String(line)).code == 0, "\(line)", sourceLocation: location)
    }
  }

  /// As bash reads them.
  static func words(of command: String) throws -> [String] {
    let read = try shell("printf '%s\\0' \(command)")
    #expect(read.code == 0, "\(command)")
    return read.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  static func shell(_ line: String) throws -> (code: Int32, output: Data) {
    let (shell, pipe) = (Process(), Pipe())
    shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    shell.arguments = ["bash", "-c", line]
    shell.standardOutput = pipe
    try shell.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    shell.waitUntilExit()
    return (shell.terminationStatus, output)
  }
}
