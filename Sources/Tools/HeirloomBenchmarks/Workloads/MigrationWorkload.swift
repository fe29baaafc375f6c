import Heirloom

/// A migration of the store of notes, with the statements for its hand-written counterpart.
enum MigrationWorkload: String, Codable, CaseIterable {
  /// Two attributes, an index, and an entity that sorts last: no row changes.
  case additive = "W1"
  /// Two attributes and nothing else, which changes only the schema.
  case plain = "W1plain"
  /// The same as W1 with an entity that sorts first: every row gets another entity number.
  case renumbering = "W1first"
  /// A rename, a removed attribute, a default for NULL, a to-one relationship made to-many.
  case reshaping = "W2"
  /// A name split in two and the length of a text, by expressions.
  case computing = "W3"
  /// A policy makes several objects of each note, from bytes that aren't copied.
  case splitting = "W4"
  /// The same with Swift's own types.
  case splittingTyped = "W4typed"
  /// The same with attribute values of any type.
  case splittingBoxed = "W4boxed"
  /// Fifty additive versions at once; the new entities sort last, so no row changes.
  case fiftyVersions = "W5"
  /// The same with entities that sort first: every row gets another entity number.
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

  /// The number of new entities that sort before the old ones, by which all entity numbers grow.
  var shift: Int {
    switch self {
    case .renumbering: 1
    case .fiftyVersionsFirst: BenchmarkModels.fiftyVersionsEntityCount
    default: 0
    }
  }

  /// True if titles are indexed, which needs sorting.
  var indexesTitles: Bool {
    switch self {
    case .additive, .renumbering, .fiftyVersions, .fiftyVersionsFirst: true
    case .plain, .reshaping, .computing, .splitting, .splittingTyped, .splittingBoxed: false
    }
  }

  /// Returns the destination model.
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

  /// The policy that makes verses; `nil` for a migration without code.
  var policy: VersePolicy.Type? {
    switch self {
    case .splitting: VersePolicy.self
    case .splittingTyped: TypedVersePolicy.self
    case .splittingBoxed: BoxedVersePolicy.self
    default: nil
    }
  }

  /// Returns the mappings that an app would give; empty if they are inferred.
  func mappings() throws -> [MappingModel] {
    if self == .computing { return [try BenchmarkModels.computedValuesMapping()] }
    guard let policy else { return [] }
    let (earlier, later) = (try BenchmarkModels.notes(), try destination())
    var mapping = try MappingModel.inferred(from: earlier, to: later)
    mapping.entityMappings.removeAll { $0.destinationEntityName == "Verse" }
    mapping.entityMappings.append(EntityMapping(from: "Note", to: "Verse", policy: policy))
    return [mapping.completed(from: earlier, to: later)]
  }
}
