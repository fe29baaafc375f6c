/// A code of the tool's exit, for a script.
package enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
  /// Success, or nothing to do.
  case done = 0
  /// A failure; the store still has its source version.
  case failed = 1
  /// A command line that is not understood.
  case usage = 2
  /// A mapping or a decision about data that is needed.
  case decisionNeeded = 3
  /// A store that another process holds.
  case storeInUse = 4
  /// A store of an unknown or newer version.
  case unknownVersion = 5
  /// Findings of a check.
  case findings = 6
  /// An unknown outcome: the change may not outlast a loss of power, so run again.
  case outcomeUnknown = 7
  /// Finished work whose report could not be written in full.
  case outputLost = 9
  /// A run that the user stopped.
  case cancelled = 130
}

extension ExitCode {
  /// The meaning of the code, in a few words.
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
