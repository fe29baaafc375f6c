import HeirloomOutput

extension Console {
  /// `body` only reads: if the user interrupts it, the process ends at once.
  func reading<Value>(_ phase: String, _ path: String?, _ body: () throws -> Value) rethrows -> Value {
    progress.begin(phase)
    mayLeave(path)
    defer { interruption.stay() }
    return try body()
  }

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
  static func cancelled(storeAt path: String?) -> CommandFailure {
    CommandFailure(
      exitCode: .cancelled, code: "cancelled", coreDataCode: 3072,
      message: path.map { "Cancelled: \($0) is as it was before." } ?? "Cancelled: nothing was changed.",
      storeAt: path)
  }
}
