import Foundation
import Heirloom
import HeirloomOutput

// The entries of the lock that the command line gives.
extension HistoryCheck {
  /// Records in the lock that the app's own code migrates the steps from versions to the next ones, and writes it.
  ///
  /// Without a lock nothing is recorded, which is a warning.
  mutating func leaveToCode(_ names: [String]) throws {
    guard var lock else {
      for name in names {
        add(
          .warning, .missingLock, version: name, file: path,
          "--by-app \(shellWord(name)) holds for this run alone, since there is no lock.json to note it in: app and tool don't know"
            + " of it. \(lockAdvice).")
      }
      return
    }
    for (version, next) in zip(versions, versions.dropFirst()) where names.contains(version.name) {
      let step = lock.content.step(from: version.name, to: next.name)
      if !lock.content.stepsByCode.contains(step) { lock.content.stepsByCode.append(step) }
    }
    if lock.content != self.lock?.content { try write(lock) }
  }

  /// Records decisions in the lock, and writes it.
  ///
  /// - Parameter decisions: The decisions, with the versions' names.
  /// - Throws: A failure if there is no lock, or it can't be written.
  mutating func decide(_ decisions: [VersionLock.Decision]) throws {
    guard !decisions.isEmpty else { return }
    var lock = try writableLock(for: "decision")
    for decision in decisions {
      lock.content.decide(decision.at(lock.content.step(from: decision.step.source, to: decision.step.destination)))
    }
    if lock.content != self.lock?.content { try write(lock) }
    history = history?.locked(by: lock.content)
  }

  private func writableLock(for subject: String) throws -> (path: String, content: VersionLock) {
    guard let lock else {
      throw CommandFailure(
        exitCode: .failed, code: "missingLock",
        message: "\(path) has no lock to write the \(subject) into; nothing was changed.",
        suggestion: "\(lockAdvice).")
    }
    return lock
  }

  private mutating func write(_ lock: (path: String, content: VersionLock)) throws {
    try SnapshotFile(path: lock.path, files: POSIXFileOperations()).write(lock.content.encoded())
    self.lock = lock
  }

  /// Records in the lock that losses are meant, and writes it.
  ///
  /// The kinds are written where the two models don't imply just them: then the lock becomes one of format 2.
  ///
  /// - Parameter losses: The losses.
  /// - Throws: A failure if there is no lock, or it can't be written.
  mutating func acknowledge(_ losses: [LossReview.Loss]) throws {
    var lock = try writableLock(for: "acknowledgement")
    for loss in losses {
      let same = losses.filter {
        $0.name == loss.name && $0.source.name == loss.source.name && $0.destinationName == loss.destinationName
      }
      let implied = versions.first { $0.name == loss.destinationName }.map {
        AcknowledgedLosses.kinds(impliedBy: loss.name, from: loss.source.model, to: $0.model)
      }
      let step = lock.content.step(from: loss.source.name, to: loss.destinationName)
      let isImplied = implied == Set(same.compactMap(\.effect.kind.lossKind))
      lock.content.acknowledge(
        loss.name, kind: isImplied ? nil : loss.effect.kind.lossKind, from: step.source, to: step.destination)
    }
    try write(lock)
  }

  /// Takes acknowledgements out of the lock, and writes it.
  ///
  /// - Parameters:
  ///   - names: The names of the losses.
  ///   - needless: The acknowledgements that acknowledge nothing: where a name has such ones, the others stay.
  /// - Throws: `UsageError` for a name that the lock doesn't acknowledge; a failure if there is no lock, or it can't be
  ///   written.
  mutating func unacknowledge(
    _ names: [String], first needless: [(loss: VersionLock.Acknowledgement.Loss, source: String, destination: String)]
  ) throws {
    var lock = try writableLock(for: "acknowledgement")
    let known = Set(lock.content.acknowledgements.flatMap(\.losses).map(\.name))
    for name in names where !known.contains(name) {
      throw UsageError.invalidValue(
        option: "--unacknowledge", value: name,
        expected: known.isEmpty ? "nothing: no loss is acknowledged" : "one of \(listText(known.ordered()))")
    }
    let steps = needless.map { (step: lock.content.step(from: $0.source, to: $0.destination), loss: $0.loss) }
    lock.content.unacknowledge { step, loss in
      names.contains(loss.name)
        && (steps.contains { $0.step == step && $0.loss == loss } || !steps.contains { $0.loss.name == loss.name })
    }
    try write(lock)
  }
}
