import HeirloomOutput
import HeirloomSwiftSource

extension HistoryFinding {
  var output: OutputValue {
    .object([
      ("severity", .text(severity.rawValue)), ("rule", .text(rule.rawValue)), ("version", .optional(version)),
      ("entity", .optional(entity)), ("property", .optional(property)), ("file", .optional(file)),
      ("line", .optional(line.map(Int64.init))), ("message", .text(problem)), ("remedy", .optional(remedy)),
    ])
  }

  func line(_ style: TextStyle) -> String {
    let title =
      switch severity {
      case .error: style.red("error")
      case .warning: style.yellow("warning")
      case .note: style.faint("note")
      }
    return "  \(title)  \(placeText.map { "\($0): " } ?? "")\(message)"
  }
}
