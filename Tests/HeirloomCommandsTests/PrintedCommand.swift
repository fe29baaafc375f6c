import Foundation
import HeirloomCommands

/// A command in a text that the tool printed, read word for word as a shell reads it.
struct PrintedCommand: Equatable, CustomStringConvertible {
  let words: [String]

  var description: String { (["heirloom"] + words).joined(separator: " ") }

  /// A word in place of a value that the reader would have to find out.
  var placeholder: String? {
    words.first { $0.wholeMatch(of: /[A-Z]{2,}(\.[A-Z]+)*(=[A-Z]+)?|fill:VALUE.*/) != nil }
  }

  static func all(in text: String) -> [PrintedCommand] {
    text.ranges(of: "heirloom ").compactMap { range in
      // A file's name may end so.
      guard range.lowerBound == text.startIndex || !"/._-".contains(text[text.index(before: range.lowerBound)]) else {
        return nil
      }
      return command(text[range.upperBound...])
    }
  }

  private static func command(_ text: Substring) -> PrintedCommand? {
    var text = text
    guard let name = word(&text), let options = grammar[name.text] else { return nil }
    var (words, positionals) = ([name.text], 0)
    // More words would be of the sentence.
    let most = ["compare": 2, "merge": 3][name.text] ?? 1
    var last = name
    while !last.ends, let next = word(&text) {
      if name.text == "help", grammar[next.text] == nil { break }
      if next.text.hasPrefix("--") {
        guard let takesValue = options[next.text] else { break }
        words.append(next.text)
        last = next
        guard takesValue, !next.ends, let value = word(&text) else { continue }
        words.append(value.text)
        last = value
      } else {
        guard positionals < most else { break }
        positionals += 1
        words.append(next.text)
        last = next
      }
    }
    return PrintedCommand(words: words)
  }

  /// Takes a shell's word from a text, without the punctuation of a sentence; `nil` at the end of a line.
  private static func word(_ text: inout Substring) -> (text: String, ends: Bool)? {
    while text.first == " " { text.removeFirst() }
    guard let first = text.first, first != "\n" else { return nil }
    var (word, isQuoted, isQuotedLast) = ("", false, false)
    while let character = text.first, isQuoted || character != " " && character != "\n" {
      text.removeFirst()
      switch character {
      case "$" where !isQuoted && text.first == "'":
        guard let end = text.dropFirst().firstIndex(of: "'") else { break }
        let read = try? DoctorWalk.words(of: "$" + text[...end])
        word += read?.first ?? ""
        text = text[text.index(after: end)...]
        isQuotedLast = true
      case "'":
        isQuoted.toggle()
        isQuotedLast = true
      case "\\" where !isQuoted:
        if let next = text.popFirst() { word.append(next) }
      default:
        word.append(character)
        isQuotedLast = isQuoted
      }
    }
    guard !isQuotedLast, let end = word.last, ".,;:)".contains(end) else { return (word, false) }
    while let end = word.last, ".,;:)".contains(end) { word.removeLast() }
    return (word, true)
  }

  /// By command and name; true for an option with a value.
  private static let grammar: [String: [String: Bool]] = {
    let json = try? Tool(directory: Tool.snapshots)("help", "--json").json()
    let commands = json?["commands"] as? [[String: Any]] ?? []
    let pairs: [(String, [String: Bool])] = commands.compactMap { command in
      guard let name = command["name"] as? String else { return nil }
      let options = (command["options"] as? [[String: Any]] ?? []).compactMap { option in
        (option["name"] as? String).map { ($0, option["value"] is String) }
      }
      return (name, Dictionary(uniqueKeysWithValues: options))
    }
    return Dictionary(uniqueKeysWithValues: pairs + [("help", [:])])
  }()

  static let commands = Set(grammar.keys)
  static let options = Set(grammar.values.flatMap(\.keys))
}
