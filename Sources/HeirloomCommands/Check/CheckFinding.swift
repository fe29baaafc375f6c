import Heirloom
import HeirloomOutput

/// Something that is wrong with a history of models, or may go wrong with its stores.
struct CheckFinding {
  /// What it is about.
  enum Kind: String, CaseIterable {
    /// A version can't be read.
    case unreadableVersion
    /// A shipped version is not what it was.
    case editedVersion
    /// A snapshot is not of the version whose name it has.
    case editedSnapshot
    /// A version is the same to stores, but something else of it was edited.
    case editedDetails
    /// A shipped version is gone.
    case missingVersion
    /// A version is not in the lock.
    case unlockedVersion
    /// There is no lock.
    case missingLock
    /// A shipped version comes after the current one.
    case laterVersion
    /// No mapping can be inferred.
    case mappingNeeded
    /// A mapping model needs code of the app.
    case policyNeeded
    /// Stores of a version were not tried.
    case notTried
    /// A mapping model has no part in any migration.
    case mappingUnused
    /// Something is lost between two versions.
    case loss
    /// The lock acknowledges a loss that there isn't.
    case staleAcknowledgement
    /// Some rows would stop a migration, lose something or change.
    case dataHazard
    /// A migration failed.
    case migrationFailed
    /// A migration did not keep what it should have.
    case notKept
    /// A migrated store is not sound.
    case unsoundStore
    /// Sample objects could not be made as a model wants them.
    case incompleteSample
    /// A version can't be mirrored with CloudKit.
    case cloudKitModel
    /// A version changes what CloudKit's deployed schema has.
    case cloudKitSchema
  }

  let severity: StoreFinding.Severity
  let kind: Kind
  /// The version that it is about.
  var version: String?
  var entity: String?
  var property: String?
  /// The file that has to change, or where it shows.
  var file: String?
  /// What was found and what to do, one or two sentences.
  let message: String

  /// The finding for a program.
  var output: OutputValue {
    .object([
      ("severity", .text(severity.rawValue)), ("kind", .text(kind.rawValue)), ("version", .optional(version)),
      ("entity", .optional(entity)), ("property", .optional(property)), ("file", .optional(file)),
      ("message", .text(message)),
    ])
  }

  /// The finding for a person.
  func line(_ style: TextStyle) -> String {
    let title =
      switch severity {
      case .error: style.red("error")
      case .warning: style.yellow("warning")
      case .note: style.faint("note")
      }
    return "  \(title)  \(message)"
  }
}
