import Heirloom

/// A finding as a workflow command of GitHub Actions, which shows it beside the file in a pull request.
///
/// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
struct WorkflowAnnotation {
  private let finding: CheckFinding
  private let environment: [String: String]
  private let directory: String

  /// Creates an annotation; `nil` for a note, which needs nobody's attention.
  ///
  /// - Parameters:
  ///   - finding: The finding.
  ///   - console: Tells where the workflow's checkout lies.
  init?(_ finding: CheckFinding, console: Console) {
    guard finding.severity < .note else { return nil }
    self.finding = finding
    environment = console.environment
    directory = console.currentDirectory
  }

  /// The command, one line.
  var line: String {
    var properties = ["title=" + Self.property("heirloom check: \(finding.kind.rawValue)")]
    if let file = finding.file { properties.insert("file=" + Self.property(relative(file)), at: 0) }
    let command = finding.severity == .error ? "error" : "warning"
    return "::\(command) \(properties.joined(separator: ","))::\(Self.data(finding.message))"
  }

  /// A path as the checkout has it.
  private func relative(_ path: String) -> String {
    for folder in [environment["GITHUB_WORKSPACE"] ?? "", directory] where !folder.isEmpty {
      let start = folder.hasSuffix("/") ? folder : folder + "/"
      if path.hasPrefix(start) { return String(path.dropFirst(start.count)) }
    }
    return path
  }

  /// Text after the command: a line end or a per cent sign would end it or change it.
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

  /// A property's value: what separates properties is changed too.
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
