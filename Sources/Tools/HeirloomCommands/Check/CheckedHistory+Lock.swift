import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension CheckedHistory {
  /// App code migrates the steps that start at the named versions; without a lock, only warns of
  /// each.
  mutating func leaveToCode(_ names: [String]) throws -> [HistoryFinding] {
    guard var lock else {
      return names.map { name in
        HistoryFinding(
          .missingLock, .warning, version: name, file: path,
          "--by-app \(shellWord(name)) holds for this run alone, since there is no lock.json to note it in: app and tool don't know"
            + " of it.", remedy: "\(lockAdvice).")
      }
    }
    for (version, next) in zip(versions, versions.dropFirst()) where names.contains(version.name) {
      let step = lock.content.step(from: version.name, to: next.name)
      if !lock.content.stepsByCode.contains(step) { lock.content.stepsByCode.append(step) }
    }
    if lock.content != self.lock?.content { try write(lock) }
    return []
  }

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

  /// Kinds are written only if they differ from those that the two models imply; the lock then gets
  /// format 2.
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

  /// Only the `needless` acknowledgements of a name are removed, if it has some.
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
