/// A reader that takes bytes from outside.
package enum FuzzTarget: String, CaseIterable, Codable, Sendable {
  /// Values that an app archived in a row.
  case archivedValue
  /// Property lists in both of their formats.
  case propertyList
  /// Compiled models, `.mom`.
  case compiledModel
  /// A store's copy of its model: a compressed archive.
  case modelCache
  /// Model sources, the XML of an `.xcdatamodel`.
  case modelSource
  /// Snapshots.
  case snapshot
  /// Mapping model sources, the XML of an `.xcmappingmodel`.
  case mappingSource
  /// Compiled mapping models, `.cdm`.
  case compiledMapping
  /// The text of expressions.
  case expression
  /// The text of predicates.
  case predicate
  /// An app's source with its SwiftData models.
  case swiftSource
  /// Logs with version hashes.
  case logText
  /// Stores: inspected, verified, planned and migrated.
  case store
  /// The surroundings of a store: journals, logs, the companion folder, the folder of external data.
  case surroundings

  /// The reader's share of all inputs, in thousandths.
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

  /// The number of commands that are run on an input, each with a time limit of its own.
  var commandCount: Int {
    switch self {
    case .store: 7
    case .surroundings: 8
    default: 1
    }
  }
}
