import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// A fault of a history of models, or a problem that its stores may have.
struct CheckFinding {
  /// A kind of finding.
  enum Kind: String, CaseIterable {
    /// A version that can't be read.
    case unreadableVersion
    /// A version of Swift source that isn't certain, so that no store is held against it.
    case uncertainVersion
    /// Swift source that doesn't tell which versions there are.
    case undecidedHistory
    /// A known trap of SwiftData's versions; ``CheckFinding/trap`` says which.
    case sourceTrap
    /// A store, kept as a fixture, that is of no version.
    case unknownStore
    /// A part of a version's source that was not understood.
    case notRead
    /// A shipped version that was changed.
    case editedVersion
    /// A snapshot that is not of the version whose name it has.
    case editedSnapshot
    /// A version that is the same to stores, but has other edits.
    case editedDetails
    /// Names that two versions swap, while a store fits both and isn't migrated.
    case renameWithoutMigration
    /// Something removed and something added that may be one thing under a new name.
    case suspectedRename
    /// A renaming identifier that names nothing in the versions before.
    case renamingIdentifier
    /// A shipped version that is gone.
    case missingVersion
    /// A floor in the lock, before which stores are refused.
    case belowFloor
    /// A version that is not in the lock.
    case unlockedVersion
    /// A history without a lock.
    case missingLock
    /// A shipped version after the current one.
    case laterVersion
    /// A hop for which no mapping can be inferred.
    case mappingNeeded
    /// A mapping model that needs code of the app.
    case policyNeeded
    /// A version whose stores were not tried.
    case notTried
    /// A mapping model that has no part in any migration.
    case mappingUnused
    /// A loss between two versions.
    case loss
    /// An acknowledgement in the lock of a loss that doesn't exist.
    case staleAcknowledgement
    /// An acknowledgement without a kind, between versions one of which has no model.
    case acknowledgementWithoutModel
    /// Rows that would stop a migration, lose something or change.
    case dataHazard
    /// A migration that failed.
    case migrationFailed
    /// A migration that did not keep everything it should.
    case notKept
    /// A migrated store that is not sound.
    case unsoundStore
    /// Sample objects that could not be made as a model wants them.
    case incompleteSample
    /// A version that can't be mirrored with CloudKit.
    case cloudKitModel
    /// A version that changes CloudKit's deployed schema.
    case cloudKitSchema
  }

  let severity: StoreFinding.Severity
  let kind: Kind
  /// The version that the finding is about.
  var version: String?
  var entity: String?
  var property: String?
  /// The file that has to change, or that shows the problem.
  var file: String?
  /// The line of the file, from 1, where it is known.
  var line: Int?
  /// The problem and the advice, in one or two sentences.
  let message: String
  /// The trap of SwiftData's versions.
  var trap: SwiftDataFinding.Kind?
  /// The place of a trap in words, such as `Models/Chat.swift:41`.
  var place: String?

  /// The kind, as programs know it.
  var kindName: String { trap?.rawValue ?? kind.rawValue }

  /// The finding for a program.
  var output: OutputValue {
    .object([
      ("severity", .text(severity.rawValue)), ("kind", .text(kindName)), ("version", .optional(version)),
      ("entity", .optional(entity)), ("property", .optional(property)), ("file", .optional(file)),
      ("line", .optional(line.map(Int64.init))),
      ("message", .text(message)),
    ])
  }

  /// Returns the finding for a person.
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
