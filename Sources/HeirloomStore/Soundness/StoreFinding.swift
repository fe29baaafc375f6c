public import HeirloomFormats
import HeirloomModel

/// A difference between a store and what its model or its format requires.
public struct StoreFinding: Hashable, Sendable {
  /// The finding's severity.
  public let severity: Severity
  package let kind: Kind
  /// A stable name of the kind, for programs.
  public var code: String { kind.rawValue }
  /// The entity concerned; `nil` for the store as a whole.
  public let entity: String?
  /// The message: what was found, what it means and what to do.
  public let message: String
  /// The operations that the message mentions.
  public let remedies: [Remedy]
  /// The file that the remedies apply to; `nil` for the store itself.
  package let file: String?
  package let missingFiles: [String]
  /// The previous version concerned.
  package let version: String?

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

  /// Other programs read the raw values.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case damaged, truncated, trailingBytes, damagedLog
    case missingMetadata, severalMetadata, invalidMetadata, missingHashes, oddMetadata, wrongDigest, wrongChecksum
    case unknownModel, differentHash, differentModel, missingModelCache, severalModelCaches, damagedModelCache
    case differentModelCache, damagedSnapshot, differentSnapshot
    case missingEntityRow, duplicateEntityRow, wrongEntityRow, staleEntityName, unknownEntityRow, keysBehind
    case keysExhausted
    case unknownEntityReference
    case missingTable, missingColumn, differentColumnType, extraColumn, extraTable, otherTableName
    case pendingCleanUp
    case missingIndex, differentIndex, extraIndex, missingTrigger, differentTrigger, extraTrigger
    case unknownEntityNumber, abstractEntity, invalidKey, invalidLockCount, valueOfOtherEntity
    case missingRequiredValue, wrongValueType, valueOutOfRange, duplicateValues
    case danglingKey, wrongDestination, disagreeingInverse, danglingLink, invalidOrder
    case missingExternalFile, unusedExternalFile, unkeptExternalFile
    case unfinishedOperation, damagedManifest, leftover, damagedVersion, unusableFolder
  }
}
