import Foundation
import HeirloomMigration
import HeirloomModel

/// A log line about a migration, in the shape of swift-log's.
public struct MigrationLogLine: Hashable, Sendable {
  /// The importance of a line; the raw values are names of swift-log's levels.
  public enum Level: String, Hashable, Sendable {
    /// Details for debugging.
    case debug
    /// Normal progress.
    case info
    /// Notable, but not a problem.
    case notice
    /// A problem that was handled.
    case warning
    /// A failure.
    case error
  }

  /// The line's importance.
  public let level: Level
  /// A sentence about the event; it is always the same for one kind of event.
  public let message: String
  /// The details, each on one line of bounded length.
  ///
  /// They are the event's name under `event`, the store's path under `store`, then versions, counts and names.
  public private(set) var metadata: [String: String]

  init(_ level: Level, _ message: String, _ metadata: [String: String?] = [:]) {
    self.level = level
    self.message = PlainText.line(message)
    self.metadata = metadata.compactMapValues { $0.map { PlainText.line($0) } }
  }

  func adding(_ value: String, for key: String) -> MigrationLogLine {
    var line = self
    line.metadata[key] = PlainText.line(value)
    return line
  }
}

extension MigrationEvent {
  /// A stable name of the case, for logs and metrics.
  public var name: String {
    switch self {
    case .foundStaleCandidate: "foundStaleCandidate"
    case .removedStaleCandidate: "removedStaleCandidate"
    case .recovered: "recovered"
    case .undidInterruptedChange: "undidInterruptedChange"
    case .undidPartOfInterruptedChange: "undidPartOfInterruptedChange"
    case .restoredWithFaults: "restoredWithFaults"
    case .keptUnreadableLog: "keptUnreadableLog"
    case .snapshotDisagrees: "snapshotDisagrees"
    case .snapshotUnreadable: "snapshotUnreadable"
    case .foundSourceModel: "foundSourceModel"
    case .sourceModelUncertain: "sourceModelUncertain"
    case .mappingUnused: "mappingUnused"
    case .versionEdited: "versionEdited"
    case .codeMissing: "codeMissing"
    case .started: "started"
    case .held: "held"
    case .runningStage: "runningStage"
    case .built: "built"
    case .proven: "proven"
    case .previousVersionKept: "retained"
    case .swapped: "swapped"
    case .quarantined: "quarantined"
    case .finished: "finished"
    case .failed: "failed"
    case .cleanUpPostponed: "cleanUpPostponed"
    case .movedAside: "movedAside"
    case .passedOver: "passedOver"
    case .attributesLeftOut: "attributesLeftOut"
    case .pruned: "pruned"
    case .pinned: "pinned"
    case .released: "released"
    }
  }

  /// The event as a log line, without row values.
  ///
  /// The reason of ``failed(reason:)`` is left out, since it may come from the app's own code and quote a value:
  /// use ``MigrationAssistantError/logLine`` instead.
  public var logLine: MigrationLogLine { line.adding(name, for: "event") }

  var line: MigrationLogLine {
    switch self {
    case .foundStaleCandidate(let path):
      MigrationLogLine(.notice, "An earlier run left a candidate behind.", ["path": path])
    case .removedStaleCandidate(let path):
      MigrationLogLine(.info, "The candidate of an earlier run was removed.", ["path": path])
    case .recovered(let operation):
      MigrationLogLine(
        .warning, "An interrupted operation of an earlier run was completed or undone.", ["operation": operation])
    case .undidInterruptedChange(let id):
      MigrationLogLine(
        .warning, "An interrupted change of the store was rolled back; a version holds the store as it was.",
        ["retained": id])
    case .undidPartOfInterruptedChange(let id, let reason):
      MigrationLogLine(
        .warning, "An interrupted change of the store was rolled back in part; a version holds the store as it was.",
        ["retained": id, "reason": reason])
    case .restoredWithFaults(let id, let reason):
      MigrationLogLine(.warning, "The version that was restored has faults.", ["version": id, "reason": reason])
    case .keptUnreadableLog(let path, let reason):
      MigrationLogLine(
        .warning, "The store's -wal can't be read to its end; a copy of it is kept.", ["path": path, "reason": reason])
    case .snapshotDisagrees(let snapshot, let store):
      MigrationLogLine(
        .warning, "The archived model is of another version than the store, and is not used.",
        ["snapshotVersion": snapshot, "storeVersion": store])
    case .snapshotUnreadable(let reason):
      MigrationLogLine(.warning, "The archived model can't be read, and is not used.", ["reason": reason])
    case .foundSourceModel(let source, let version):
      MigrationLogLine(
        .debug, "The model that made the store was found.", ["modelSource": source.rawValue, "version": version])
    case .sourceModelUncertain(let reason):
      MigrationLogLine(.warning, "Several versions may have made the store.", ["reason": reason])
    case .mappingUnused(let reason):
      MigrationLogLine(.warning, "A mapping model is not used by the migration.", ["reason": reason])
    case .versionEdited(let version, let entities):
      MigrationLogLine(
        .warning, "A shipped version was edited.",
        ["version": version, "entities": entities.joined(separator: ", ")])
    case .codeMissing(let source, let destination):
      MigrationLogLine(
        .warning, "The app has no code for a step that the lock assigns to it.", ["from": source, "to": destination])
    case .started(let from, let to):
      MigrationLogLine(.info, "The migration begins.", ["from": from, "to": to])
    case .held: MigrationLogLine(.debug, "The store is held.")
    case .runningStage(let stage, let handler):
      MigrationLogLine(.debug, "Code of a stage runs.", ["stage": stage, "handler": handler.rawValue])
    case .built: MigrationLogLine(.debug, "The migrated store is built.")
    case .proven: MigrationLogLine(.debug, "The migrated store is proven.")
    case .previousVersionKept(let id): MigrationLogLine(.info, "The previous version is kept.", ["retained": id])
    case .swapped: MigrationLogLine(.debug, "The migrated store is in place.")
    case .quarantined(let rows, let paths):
      MigrationLogLine(
        .warning, "Rows were put into quarantine, by decision.",
        ["rows": "\(rows)", "paths": paths.joined(separator: ", ")])
    case .finished(let duration):
      MigrationLogLine(.info, "The migration is complete.", ["seconds": "\(duration / .seconds(1))"])
    case .failed: MigrationLogLine(.error, "The migration failed.")
    case .cleanUpPostponed(let reason):
      MigrationLogLine(.notice, "Files were left for the next run to remove.", ["reason": reason])
    case .movedAside(let path):
      MigrationLogLine(.warning, "Files that could not be opened were moved aside.", ["path": path])
    case .passedOver(let count, let first):
      MigrationLogLine(
        .warning, "Names in a folder of external data that are neither files nor folders were skipped.",
        ["count": "\(count)", "path": first])
    case .attributesLeftOut(let path, let count, let first):
      MigrationLogLine(
        .warning, "Attributes could not be copied to a new file.",
        ["path": path, "count": "\(count)", "attribute": first])
    case .pinned(let id, let losses):
      MigrationLogLine(
        .warning, "Only the previous version holds content lost without consent; it is kept until it is released.",
        ["retained": id, "losses": losses.joined(separator: ", ")])
    case .released(let id):
      MigrationLogLine(.info, "A pinned version was released.", ["version": id])
    case .pruned(let id): MigrationLogLine(.info, "A previous version was removed.", ["version": id])
    }
  }
}

extension MigrationAssistantError {
  /// The error as a log line, without row values.
  public var logLine: MigrationLogLine {
    MigrationLogLine(
      .error, textWithoutValues, ["event": "failed", "code": code, "coreDataCode": coreDataCode.map(String.init)])
  }
}

extension MigrationOutcome {
  /// A stable name of the case, for logs and metrics.
  public var name: String {
    switch self {
    case .noStore: "noStore"
    case .upToDate: "upToDate"
    case .migrated: "migrated"
    case .setAside: "setAside"
    }
  }

  /// The outcome as a log line, without row values.
  public var logLine: MigrationLogLine { line.adding(name, for: "outcome") }

  var line: MigrationLogLine {
    switch self {
    case .noStore: return MigrationLogLine(.info, "There is no store yet.")
    case .upToDate: return MigrationLogLine(.debug, "The store has the current model.")
    case .migrated(let report):
      let losses = report.plan.losses
      let text = losses.map { "\($0.rows) × \($0.entity)\($0.property.map { ".\($0)" } ?? "")" }
      return MigrationLogLine(
        losses.isEmpty ? .info : .notice,
        losses.isEmpty
          ? "The store was migrated." : "The store was migrated; the previous version has the lost content.",
        [
          "from": report.sourceChecksum, "to": report.destinationChecksum, "retained": report.previousVersion.id,
          "rows": "\(report.rowCount)", "losses": losses.isEmpty ? nil : text.joined(separator: ", "),
        ])
    case .setAside(let notice):
      return MigrationLogLine(
        .warning, "There is no store now: the existing one was set aside.",
        ["code": notice.code, "path": notice.folderURL.path])
    }
  }
}

extension MigrationReport {
  var rowCount: Int64 {
    (plan.hops.last ?? plan).rows.reduce(0) { $0 + ($1.after ?? 0) }
  }
}
