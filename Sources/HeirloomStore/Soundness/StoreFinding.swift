public import HeirloomFormats
import HeirloomModel

/// A difference between a store and what its model or its format requires.
public struct StoreFinding: Hashable, Sendable {
  /// The finding's severity.
  public let severity: Severity
  /// The finding's kind.
  package let kind: Kind
  /// A stable name of the kind, for programs.
  public var code: String { kind.rawValue }
  /// The entity concerned; `nil` for the store as a whole.
  public let entity: String?
  /// The message: what was found, what it means and what to do.
  public let message: String
  /// The operations that the message mentions.
  public let remedies: [Remedy]
  /// The file that the operations apply to; `nil` for the store itself.
  package let file: String?
  /// The names of missing files of external data, if the message is about such files.
  package let missingFiles: [String]
  /// The previous version concerned; `nil` if there is none.
  package let version: String?

  /// Creates a finding.
  package init(
    _ severity: Severity, _ kind: Kind, entity: String? = nil, _ message: String, remedies: [Remedy] = [],
    for file: String? = nil, missingFiles: [String] = [], version: String? = nil
  ) {
    self.severity = severity
    self.kind = kind
    self.entity = entity
    self.message = PlainText.line(message)
    self.remedies = remedies
    self.file = file
    self.missingFiles = missingFiles
    self.version = version
  }

  /// The severity of a finding.
  public enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
    /// A loss of data or of access to them, or something that would make an app or a migration fail.
    case error
    /// A mismatch, while all data are there.
    case warning
    /// Information that is worth knowing but no fault.
    case note

    /// Orders severities, the worst first.
    public static func < (left: Severity, right: Severity) -> Bool {
      left.rank < right.rank
    }

    private var rank: Int {
      switch self {
      case .error: 0
      case .warning: 1
      case .note: 2
      }
    }
  }

  /// The kind of a finding.
  ///
  /// Other programs read the raw values.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    // The file.
    case damaged, truncated, trailingBytes, damagedLog
    // The metadata.
    case missingMetadata, severalMetadata, invalidMetadata, missingHashes, oddMetadata, wrongDigest, wrongChecksum
    // The model.
    case unknownModel, differentHash, differentModel, missingModelCache, severalModelCaches, damagedModelCache
    case differentModelCache, damagedSnapshot, differentSnapshot
    // The table of entities.
    case missingEntityRow, duplicateEntityRow, wrongEntityRow, staleEntityName, unknownEntityRow, keysBehind
    case keysExhausted
    // History and CloudKit mirroring.
    case unknownEntityReference
    // The schema.
    case missingTable, missingColumn, differentColumnType, extraColumn, extraTable, otherTableName
    case pendingCleanUp
    case missingIndex, differentIndex, extraIndex, missingTrigger, differentTrigger, extraTrigger
    // Rows.
    case unknownEntityNumber, abstractEntity, invalidKey, invalidLockCount, valueOfOtherEntity
    case missingRequiredValue, wrongValueType, valueOutOfRange, duplicateValues
    case danglingKey, wrongDestination, disagreeingInverse, danglingLink, invalidOrder
    case missingExternalFile, unusedExternalFile, unkeptExternalFile
    // The companion folder.
    case unfinishedOperation, damagedManifest, leftover, damagedVersion, unusableFolder
  }
}
