/// What the tool's exit tells a script.
package enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
  /// Done, or nothing to do.
  case done = 0
  /// Failed; the old version is in place.
  case failed = 1
  /// The command line is not understood.
  case usage = 2
  /// A mapping or a decision about data is needed.
  case decisionNeeded = 3
  /// Another process holds the store.
  case storeInUse = 4
  /// The store is of an unknown or newer version.
  case unknownVersion = 5
  /// A check found something.
  case findings = 6
  /// It is not known whether the change outlasts a loss of power: run again.
  case outcomeUnknown = 7
  /// What was asked for is done, and not all of what there is to say of it could be written.
  case outputLost = 9
  /// The user stopped it.
  case cancelled = 130
}

extension ExitCode {
  /// What the code means, in a few words.
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
