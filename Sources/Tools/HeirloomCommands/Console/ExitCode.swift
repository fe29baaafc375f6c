/// An exit code of the tool.
package enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
  /// Success, or nothing to do.
  case done = 0
  /// A failure; the store still has its source version.
  case failed = 1
  /// An invalid command line.
  case usage = 2
  /// A missing mapping, or a missing decision about data.
  case decisionNeeded = 3
  /// The store is in use by another process.
  case storeInUse = 4
  /// A store of an unknown or newer version.
  case unknownVersion = 5
  /// The check has findings.
  case findings = 6
  /// The outcome is unknown: a power failure could undo the change, so run the command again.
  case outcomeUnknown = 7
  /// The command succeeded, but its report couldn't be written completely.
  case outputLost = 9
  /// The user cancelled the command.
  case cancelled = 130
}

extension ExitCode {
  /// The meaning in help, in a few words.
  var meaning: String {
    switch self {
    case .done: "done, or nothing to do"
    case .failed: "failed, the old version is in place"
    case .usage: "wrong usage"
    case .decisionNeeded: "a mapping or a data decision is needed"
    case .storeInUse: "the store is in use"
    case .unknownVersion: "unknown or newer store"
    case .findings: "findings"
    case .outcomeUnknown: "outcome unknown, run again"
    case .outputLost: "done, but not all of the output could be written"
    case .cancelled: "cancelled"
    }
  }
}
