import Heirloom
import HeirloomSwiftSource

/// A finding as a workflow command of GitHub Actions, which shows it beside the file in a pull
/// request.
///
/// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
struct WorkflowAnnotation {
  private let finding: HistoryFinding
  private let environment: [String: String]
  private let directory: String

  init?(_ finding: HistoryFinding, console: Console) {
    guard finding.severity < .note else { return nil }
    self.finding = finding
    environment = console.environment
    directory = console.currentDirectory
  }

  var line: String {
    var properties = ["title=" + Self.property("heirloom check: \(finding.rule.rawValue)")]
    if let line = finding.line { properties.insert("line=\(line)", at: 0) }
    if let file = finding.file { properties.insert("file=" + Self.property(relative(file)), at: 0) }
    let command = finding.severity == .error ? "error" : "warning"
    return "::\(command) \(properties.joined(separator: ","))::\(Self.data(finding.message))"
  }

  private func relative(_ path: String) -> String {
    for folder in [environment["GITHUB_WORKSPACE"] ?? "", directory] where !folder.isEmpty {
      let start = folder.hasSuffix("/") ? folder : folder + "/"
      if path.hasPrefix(start) { return String(path.dropFirst(start.count)) }
    }
    return path
  }

  /// Escapes the characters that end or change a workflow command.
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

  /// Escapes the separators of properties, too.
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
