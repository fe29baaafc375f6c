import HeirloomOutput

extension Console {
  /// Runs a body that changes nothing: a user who stops it ends the tool at once.
  ///
  /// - Parameters:
  ///   - phase: The name of the work, such as `Checking`.
  ///   - path: The store that it is about, if any.
  ///   - body: The work, which only reads.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  func reading<Value>(_ phase: String, _ path: String?, _ body: () throws -> Value) rethrows -> Value {
    progress.begin(phase)
    mayLeave(path)
    defer { interruption.stay() }
    return try body()
  }

  /// Lets a user who stops the tool end it at once from now on, until the interruption's `stay()` is called.
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
  /// Returns the failure of work that the user has stopped.
  static func cancelled(storeAt path: String?) -> CommandFailure {
    CommandFailure(
      exitCode: .cancelled, code: "cancelled", coreDataCode: 3072,
      message: path.map { "Cancelled: \($0) is as it was before." } ?? "Cancelled: nothing was changed.",
      storeAt: path)
  }
}
