import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// A fault of a history of models, or a problem that its stores may have.
struct CheckFinding {
  /// A kind of finding.
  enum Kind: String, CaseIterable {
    case unreadableVersion
    /// A version of Swift source that is ambiguous, so no store is compared with it.
    case uncertainVersion
    /// Swift source from which the list of versions can't be determined.
    case undecidedHistory
    /// A known pitfall of SwiftData's versions; ``CheckFinding/trap`` is its kind.
    case sourceTrap
    /// A store, kept as a fixture, that fits no version.
    case unknownStore
    /// A part of a version's source that the reader didn't understand.
    case notRead
    /// A shipped version that was edited afterwards.
    case editedVersion
    /// A snapshot whose model is not that of the version it is named after.
    case editedSnapshot
    /// A version with edits that don't change its hashes.
    case editedDetails
    /// Names swapped between two versions that a store fits equally, so no migration follows the rename.
    case renameWithoutMigration
    /// A removal and an addition that may be one rename.
    case suspectedRename
    /// A renaming identifier that matches nothing in earlier versions.
    case renamingIdentifier
    /// A shipped version whose model is missing.
    case missingVersion
    /// The lock's floor: stores of earlier versions are refused.
    case belowFloor
    case unlockedVersion
    case missingLock
    case laterVersion
    case mappingNeeded
    /// A mapping model that needs policies of the app.
    case policyNeeded
    /// A version for which no trial migration was run.
    case notTried
    /// A mapping model that no migration uses.
    case mappingUnused
    case loss
    /// An acknowledgement in the lock for a loss that doesn't occur.
    case staleAcknowledgement
    /// An acknowledgement without kinds, between versions of which one has no model.
    case acknowledgementWithoutModel
    /// Rows that would block a migration, be changed or be lost.
    case dataHazard
    case migrationFailed
    /// A migration that didn't keep everything the plan promised.
    case notKept
    case unsoundStore
    /// Sample objects that don't satisfy their model.
    case incompleteSample
    /// A version that can't be mirrored with CloudKit.
    case cloudKitModel
    /// A version that changes CloudKit's deployed schema.
    case cloudKitSchema
  }

  let severity: StoreFinding.Severity
  let kind: Kind
  var version: String?
  var entity: String?
  var property: String?
  /// The file to change, or the file that shows the problem.
  var file: String?
  /// The line in the file, from 1; `nil` if unknown.
  var line: Int?
  /// The problem and the advice, in one or two sentences.
  let message: String
  /// The pitfall, for ``Kind/sourceTrap``.
  var trap: SwiftDataFinding.Kind?
  /// The location of a pitfall as text, such as `Models/Chat.swift:41`.
  var place: String?

  /// The kind's name in JSON and annotations.
  var kindName: String { trap?.rawValue ?? kind.rawValue }

  var output: OutputValue {
    .object([
      ("severity", .text(severity.rawValue)), ("kind", .text(kindName)), ("version", .optional(version)),
      ("entity", .optional(entity)), ("property", .optional(property)), ("file", .optional(file)),
      ("line", .optional(line.map(Int64.init))),
      ("message", .text(message)),
    ])
  }

  func line(_ style: TextStyle) -> String {
    let title =
      switch severity {
      case .error: style.red("error")
      case .warning: style.yellow("warning")
      case .note: style.faint("note")
      }
    return "  \(title)  \(place.map { "\($0): " } ?? "")\(message)"
  }
}
