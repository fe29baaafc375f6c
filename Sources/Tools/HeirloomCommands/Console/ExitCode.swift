package enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 2
  case decisionNeeded = 3
  case storeInUse = 4
  case unknownVersion = 5
  case findings = 6
  /// A power failure could undo the change, so run the command again.
  case outcomeUnknown = 7
  case outputLost = 9
  case cancelled = 130
}

extension ExitCode {
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
