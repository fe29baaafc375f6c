import Heirloom

/// A migration of the store of notes, with the statements for its hand-written counterpart.
enum MigrationWorkload: String, Codable, CaseIterable {
  /// The new entity sorts last: no row changes.
  case additive = "W1"
  /// Changes only the schema.
  case plain = "W1plain"
  /// The new entity sorts first: every row gets another entity number.
  case renumbering = "W1first"
  case reshaping = "W2"
  case computing = "W3"
  case splitting = "W4"
  case splittingTyped = "W4typed"
  case splittingBoxed = "W4boxed"
  /// The new entities sort last: no row changes.
  case fiftyVersions = "W5"
  /// The new entities sort first: every row gets another entity number.
  case fiftyVersionsFirst = "W5first"

  var title: String {
    switch self {
    case .additive: "two attributes, an index, an entity that sorts last"
    case .plain: "two attributes"
    case .renumbering: "two attributes, an index, an entity that sorts first"
    case .reshaping: "rename, attribute dropped, NULL to default, to-one to to-many"
    case .computing: "a name split in two, the length of a text, by expressions"
    case .splitting: "a policy splits each note's body into about four objects, bytes borrowed"
    case .splittingTyped: "a policy splits each note's body into about four objects, typed values"
    case .splittingBoxed: "a policy splits each note's body into about four objects, boxed values"
    case .fiftyVersions: "50 additive versions in one jump, entities that sort last"
    case .fiftyVersionsFirst: "50 additive versions in one jump, entities that sort first"
    }
  }

  /// New entities that sort before the old ones, by which all entity numbers grow.
  var shift: Int {
    switch self {
    case .renumbering: 1
    case .fiftyVersionsFirst: BenchmarkModels.fiftyVersionsEntityCount
    default: 0
    }
  }

  var indexesTitles: Bool {
    switch self {
    case .additive, .renumbering, .fiftyVersions, .fiftyVersionsFirst: true
    case .plain, .reshaping, .computing, .splitting, .splittingTyped, .splittingBoxed: false
    }
  }

  var furtherWays: [MigrationBenchmark.Way] {
    switch self {
    case .additive: [.inPlace, .inPlaceProven]
    case .fiftyVersions: [.inPlace, .inPlaceProven, .inPlaceSteps]
    default: []
    }
  }

  func destination() throws -> ManagedObjectModel {
    switch self {
    case .additive: try BenchmarkModels.notesWithAdditions()
    case .plain: try BenchmarkModels.notesWithAttributes()
    case .renumbering: try BenchmarkModels.notesWithAdditions(entity: "Album")
    case .reshaping: try BenchmarkModels.notesReshaped()
    case .computing: try BenchmarkModels.notesWithComputedValues()
    case .splitting, .splittingTyped, .splittingBoxed: try BenchmarkModels.notesWithVerses()
    case .fiftyVersions: try BenchmarkModels.notes(ofVersion: 50)
    case .fiftyVersionsFirst: try BenchmarkModels.notes(ofVersion: 50, entities: BenchmarkModels.firstEntity)
    }
  }

  /// `nil` for a migration without code.
  var policy: VersePolicy.Type? {
    switch self {
    case .splitting: VersePolicy.self
    case .splittingTyped: TypedVersePolicy.self
    case .splittingBoxed: BoxedVersePolicy.self
    default: nil
    }
  }

  func history() throws -> ModelHistory {
    ModelHistory(current: try destination(), name: rawValue, earlier: [("V1", try BenchmarkModels.notes())])
  }

  func configuration() throws -> MigrationAssistant.Configuration {
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = try mappings()
    return configuration
  }

  /// Those that an app would give; empty if they are inferred.
  private func mappings() throws -> [MappingModel] {
    if self == .computing { return [try BenchmarkModels.computedValuesMapping()] }
    guard let policy else { return [] }
    let (earlier, later) = (try BenchmarkModels.notes(), try destination())
    var mapping = try MappingModel.inferred(from: earlier, to: later)
    mapping.entityMappings.removeAll { $0.destinationEntityName == "Verse" }
    mapping.entityMappings.append(EntityMapping(from: "Note", to: "Verse", policy: policy))
    return [mapping.completed(from: earlier, to: later)]
  }
}
