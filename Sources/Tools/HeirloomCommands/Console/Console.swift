import Foundation
import Heirloom
import HeirloomOutput

/// The environment of a run of the tool; tests replace it with one that records.
package struct Console: Sendable {
  package let writeOutput: @Sendable (String) -> Void
  package let writeError: @Sendable (String) -> Void
  package let isOutputTerminal: Bool
  package let isErrorTerminal: Bool
  package let environment: [String: String]
  /// Relative paths start from it; empty if the folder is gone.
  package let currentDirectory: String
  /// The error number of the first failed write to standard output.
  let outputFailure: @Sendable () -> Int32?
  /// Why this process can't run the tool; `nil` if it can.
  let obstacle: String?
  /// A function, because Foundation lists the whole folder to find the path.
  package let executablePath: @Sendable () -> String?
  package let interruption: Interruption
  package let storeTimeout: Duration
  package let columns: @Sendable () -> Int
  private(set) var progress: ProgressReporter
  private(set) var writesJSON = false
  /// Files and folders of Swift source, relative to its folder.
  var excludedSources: [String] = []
  private let status: StatusLine
  private let showsProgress: Bool
  /// The command line's words with spaces, and the paths that they name.
  private var spacedWords: [String] = []

  package init(
    writeOutput: @escaping @Sendable (String) -> Void, writeError: @escaping @Sendable (String) -> Void,
    isOutputTerminal: Bool = false, isErrorTerminal: Bool = false, environment: [String: String] = [:],
    currentDirectory: String, executablePath: @escaping @Sendable () -> String? = { nil },
    interruption: Interruption = Interruption(),
    storeTimeout: Duration = MigrationAssistant.Configuration().storeTimeout,
    columns: @escaping @Sendable () -> Int = { 80 }, showsProgress: Bool = false,
    outputFailure: @escaping @Sendable () -> Int32? = { nil }, obstacle: String? = nil
  ) {
    self.writeOutput = writeOutput
    self.writeError = writeError
    self.isOutputTerminal = isOutputTerminal
    self.isErrorTerminal = isErrorTerminal
    self.environment = environment
    self.currentDirectory = currentDirectory
    self.executablePath = executablePath
    self.interruption = interruption
    self.storeTimeout = storeTimeout
    self.columns = columns
    self.outputFailure = outputFailure
    self.obstacle = obstacle
    self.showsProgress = showsProgress
    status = StatusLine(write: writeError)
    progress = ProgressReporter(form: .silent, status: status)
  }

  /// The console's progress must be finished; JSON output turns progress off.
  func forRun(_ arguments: [String], writesJSON: Bool) -> Console {
    var console = self
    console.spacedWords = arguments.filter { $0.contains(" ") }.flatMap { word in
      [(try? path(word)) ?? word, word]
    }
    console.writesJSON = writesJSON
    // Without colours, the progress line isn't animated either.
    let form: ProgressReporter.Form =
      writesJSON || !showsProgress ? .silent : isErrorTerminal && allowsColor ? .bar(columns: columns) : .lines
    console.progress = ProgressReporter(form: form, status: status, interruption: interruption)
    return console
  }

  package static func ofProcess(interruption: Interruption) -> Console {
    let (output, error) = (StandardStream(STDOUT_FILENO), StandardStream(STDERR_FILENO))
    return Console(
      writeOutput: output.write, writeError: error.write,
      isOutputTerminal: isatty(STDOUT_FILENO) == 1, isErrorTerminal: isatty(STDERR_FILENO) == 1,
      environment: ProcessInfo.processInfo.environment, currentDirectory: ProcessSurroundings.workingDirectory ?? "",
      executablePath: { Bundle.main.executablePath }, interruption: interruption, columns: { Self.terminalColumns },
      showsProgress: true, outputFailure: { output.failure }, obstacle: ProcessSurroundings.obstacle)
  }

  private static var terminalColumns: Int {
    #if canImport(Darwin)
      let request: UInt = 0x4008_7468
    #else
      let request = UInt(TIOCGWINSZ)
    #endif
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      var size = winsize()
      if isatty(descriptor) == 1, ioctl(descriptor, request, &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    }
    return 80
  }

  /// Absolute, without a slash after a file's name.
  func path(_ word: String) throws(CommandFailure) -> String {
    var path = try wholePath(word)
    // The system treats a path with a trailing slash as a folder, and wouldn't find the file.
    while path.hasSuffix("/"), path.count > 1, !Self.isFolder(path) { path.removeLast() }
    return path
  }

  private static func isFolder(_ path: String) -> Bool {
    if case .folder = PathKind(path) { true } else { false }
  }

  private func wholePath(_ word: String) throws(CommandFailure) -> String {
    // The path isn't normalized: `link/../name` isn't `name` if `link` points to another folder.
    if word.hasPrefix("/") { return word }
    guard !currentDirectory.isEmpty else {
      throw CommandFailure(
        exitCode: .failed, code: "noWorkingDirectory", coreDataCode: 260,
        message:
          "The folder that the tool was started in no longer exists, so \(word) can't be resolved; expected an absolute path.",
        suggestion: "Nothing was changed. Go to an existing folder, or give absolute paths.")
    }
    let relative = word.hasPrefix("./") ? String(word.dropFirst(2)) : word
    return currentDirectory.hasSuffix("/") ? currentDirectory + relative : "\(currentDirectory)/\(relative)"
  }

  var style: TextStyle { TextStyle(isColored: isOutputTerminal && allowsColor) }

  var errorStyle: TextStyle { TextStyle(isColored: isErrorTerminal && allowsColor) }

  /// On a terminal: https://no-color.org.
  private var allowsColor: Bool { environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb" }

  func log(_ line: String) {
    let line = TerminalText.line(line, keepsStyle: errorStyle.isColored)
    status.writeLine((isErrorTerminal ? fitted(line) : [line]).joined(separator: "\n"))
  }

  /// Wrapped for the terminal; paths and commands to copy aren't broken.
  package func fitted(_ line: String) -> [String] {
    TextLayout.fitted(line, to: columns()) { CopiedText.length(atStartOf: $0, paths: spacedWords) }
  }
}
