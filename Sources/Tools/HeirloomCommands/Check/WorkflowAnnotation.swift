import Heirloom
import HeirloomSwiftSource

/// A finding as a workflow command of GitHub Actions, which shows it beside the file in a pull request.
///
/// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
struct WorkflowAnnotation {
  private let finding: HistoryFinding
  private let environment: [String: String]
  private let directory: String

  /// Creates an annotation; `nil` for a note, which needs no attention.
  init?(_ finding: HistoryFinding, console: Console) {
    guard finding.severity < .note else { return nil }
    self.finding = finding
    environment = console.environment
    directory = console.currentDirectory
  }

  /// The workflow command, on one line.
  var line: String {
    var properties = ["title=" + Self.property("heirloom check: \(finding.rule.rawValue)")]
    if let line = finding.line { properties.insert("line=\(line)", at: 0) }
    if let file = finding.file { properties.insert("file=" + Self.property(relative(file)), at: 0) }
    let command = finding.severity == .error ? "error" : "warning"
    return "::\(command) \(properties.joined(separator: ","))::\(Self.data(finding.message))"
  }

  /// Returns a path relative to the checkout.
  private func relative(_ path: String) -> String {
    for folder in [environment["GITHUB_WORKSPACE"] ?? "", directory] where !folder.isEmpty {
      let start = folder.hasSuffix("/") ? folder : folder + "/"
      if path.hasPrefix(start) { return String(path.dropFirst(start.count)) }
    }
    return path
  }

  /// Returns text with escapes for the characters that end or change a workflow command.
  static func data(_ text: String) -> String {
    PlainText.line(text).unicodeScalars.map { scalar in
      switch scalar {
      case "%": "%25"
      case "\r": "%0D"
      case "\n": "%0A"
      default: String(scalar)
      }
    }.joined()
  }

  /// Returns a property's value, which also has its separators escaped.
  static func property(_ text: String) -> String {
    data(text).unicodeScalars.map { scalar in
      switch scalar {
      case ":": "%3A"
      case ",": "%2C"
      default: String(scalar)
      }
    }.joined()
  }
}
