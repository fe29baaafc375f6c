import HeirloomOutput

extension Console {
  /// Runs a body that only reads; if the user interrupts it, the process ends at once.
  ///
  /// `phase` names the work in the progress line; `path` is the store, if there is one.
  func reading<Value>(_ phase: String, _ path: String?, _ body: () throws -> Value) rethrows -> Value {
    progress.begin(phase)
    mayLeave(path)
    defer { interruption.stay() }
    return try body()
  }

  /// Lets an interruption end the process at once, until the interruption's `stay()` is called.
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
  /// Returns the failure of work that the user cancelled.
  static func cancelled(storeAt path: String?) -> CommandFailure {
    CommandFailure(
      exitCode: .cancelled, code: "cancelled", coreDataCode: 3072,
      message: path.map { "Cancelled: \($0) is as it was before." } ?? "Cancelled: nothing was changed.",
      storeAt: path)
  }
}
