/// A reader that takes bytes from outside.
package enum FuzzTarget: String, CaseIterable, Codable, Sendable {
  /// Values that an app archived in a row.
  case archivedValue
  /// In both formats.
  case propertyList
  /// `.mom`.
  case compiledModel
  /// A store's copy of its model: a compressed archive.
  case modelCache
  /// The XML of an `.xcdatamodel`.
  case modelSource
  case snapshot
  /// The XML of an `.xcmappingmodel`.
  case mappingSource
  /// `.cdm`.
  case compiledMapping
  case expression
  case predicate
  /// An app's source with its SwiftData models.
  case swiftSource
  /// Logs with version hashes.
  case logText
  /// Stores: inspected, verified, planned and migrated.
  case store
  /// The surroundings of a store: journals, logs, the companion folder, the folder of external data.
  case surroundings

  /// Of all inputs, in thousandths.
  package var share: Int {
    switch self {
    case .archivedValue: 92
    case .compiledModel: 100
    case .propertyList: 80
    case .modelSource, .snapshot: 120
    case .logText: 40
    case .modelCache, .mappingSource, .compiledMapping, .swiftSource: 60
    case .expression, .predicate: 80
    case .store: 40
    case .surroundings: 8
    }
  }

  /// Each command has a time limit of its own.
  var commandCount: Int {
    switch self {
    case .store: 7
    case .surroundings: 8
    default: 1
    }
  }
}
