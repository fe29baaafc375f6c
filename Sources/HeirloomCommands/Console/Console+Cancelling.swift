import HeirloomOutput

extension Console {
  /// Runs a body that changes nothing: the user who stops it ends the tool at once.
  ///
  /// - Parameters:
  ///   - phase: What is being done, such as `Checking`.
  ///   - path: The store that it is about, if it is about one.
  ///   - body: What only reads.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  func reading<Value>(_ phase: String, _ path: String?, _ body: () throws -> Value) rethrows -> Value {
    progress.begin(phase)
    mayLeave(path)
    defer { interruption.stay() }
    return try body()
  }

  /// From now on the user who stops the tool ends it at once, until something stays.
  func mayLeave(_ path: String?) {
    interruption.mayLeave {
      let failure = CommandFailure.cancelled(storeAt: path)
      if writesJSON {
        writeOutput(
          TerminalText.harmless(OutputValue.object([("error", failure.output)]).json, isJSON: true))
      } else {
        for line in failure.lines(errorStyle) { log(line) }
      }
    }
  }
}

extension CommandFailure {
  /// Says that the user has stopped what was under way.
  static func cancelled(storeAt path: String?) -> CommandFailure {
    CommandFailure(
      exitCode: .cancelled, code: "cancelled", coreDataCode: 3072,
      message: path.map { "Cancelled: \($0) is as it was before." } ?? "Cancelled: nothing was changed.",
      storeAt: path)
  }
}
