public import Foundation
public import HeirloomFormats
public import HeirloomMapping
public import HeirloomMigration
import HeirloomModel

/// A step between two versions of a history, given by the app.
struct GivenHop: Sendable {
  let source: String
  let destination: String
  /// Called only if the step is on a store's path.
  let mapping: @Sendable (ManagedObjectModel, ManagedObjectModel) throws -> MappingModel
  var willMigrate: CustomMigrationStage.Handler?
  var didMigrate: CustomMigrationStage.Handler?

  var label: String { "The step from \"\(source)\" to \"\(destination)\"" }
}

extension ModelHistory {
  /// Adds a step between two versions: a mapping that can't be inferred, code before and after it, or both.
  ///
  /// ```swift
  /// var history = try ModelHistory(contentsOf: modelURL)
  /// try history.step(from: "Todo 2", to: "Todo 3") {
  ///   EntityMapping(from: "Note", to: "Note") { PropertyMapping("author", copying: "writtenBy") }
  /// }
  /// ```
  ///
  /// A step can stay for as long as its versions do. Nothing is read or called until a store's path includes the step.
  /// Such a path never skips the step: it goes to the source, applies the step, and continues from the destination.
  /// Entities without a mapping here are inferred. The rules are those of
  /// ``MigrationAssistant/Configuration/mappings``.
  ///
  /// - Parameters:
  ///   - source: The name of the source version: one of ``versionNames``, or ``MappingNeed/sourceName`` for
  ///     a model that only a snapshot has.
  ///   - destination: The name of the destination version.
  ///   - willMigrate: The code that runs before the mapping, on a copy of the store that has the source's model.
  ///   - didMigrate: The code that runs after the mapping, on its result.
  ///   - mappings: Entity mappings, one per line; each replaces the inferred ones that share its source or destination.
  /// - Throws: ``MigrationStepError`` for a name that no version has, or a step that was added before.
  public mutating func step(
    from source: String, to destination: String, willMigrate: CustomMigrationStage.Handler? = nil,
    didMigrate: CustomMigrationStage.Handler? = nil,
    @EntityMappingBuilder _ mappings: @escaping @Sendable () throws -> [EntityMapping]
  ) throws(MigrationStepError) {
    try add(
      GivenHop(
        source: source, destination: destination,
        mapping: { source, destination in
          try MappingInference(from: source, to: destination, given: MappingModel(entityMappings: mappings()))
            .mappingModel()
        }, willMigrate: willMigrate, didMigrate: didMigrate))
  }

  /// Adds code that runs before and after an inferred mapping between two versions.
  ///
  /// - Parameters:
  ///   - source: The name of the source version; one of ``versionNames``.
  ///   - destination: The name of the destination version.
  ///   - willMigrate: The code that runs before the mapping, on a copy of the store that has the source's model.
  ///   - didMigrate: The code that runs after the mapping, on its result.
  /// - Throws: ``MigrationStepError`` for a name that no version has, or a step that was added before.
  public mutating func step(
    from source: String, to destination: String, willMigrate: CustomMigrationStage.Handler? = nil,
    didMigrate: CustomMigrationStage.Handler?
  ) throws(MigrationStepError) {
    try step(from: source, to: destination, willMigrate: willMigrate, didMigrate: didMigrate) {
      () -> [EntityMapping] in []
    }
  }

  /// Adds a step between two versions that uses a mapping file.
  ///
  /// - Parameters:
  ///   - source: The name of the source version; one of ``versionNames``.
  ///   - destination: The name of the destination version.
  ///   - url: The URL of an `.xcmappingmodel`, or of a compiled `.cdm`. It is read when a store's path includes the
  ///     step; a ``MappingReadingError`` then stops the migration.
  /// - Throws: ``MigrationStepError`` for a name that no version has, or a step that was added before.
  public mutating func step(
    from source: String, to destination: String, contentsOf url: URL
  ) throws(MigrationStepError) {
    try add(
      GivenHop(source: source, destination: destination) { [path = url.path] earlier, later in
        let read = try MappingModelFile.read(path).read
        let mismatches = read.mismatches(from: earlier, to: later)
        guard mismatches.isEmpty else {
          throw MappingReadingError(
            path: path, problem: .unfit(source: source, destination: destination, mismatches: mismatches))
        }
        return read.mappingModel.completed(from: earlier, to: later)
      })
  }

  private mutating func add(_ step: GivenHop) throws(MigrationStepError) {
    func fail(_ problem: MigrationStepError.Problem) throws(MigrationStepError) {
      throw MigrationStepError(source: step.source, destination: step.destination, problem: problem)
    }
    // The names of models that no version has are known only once a store is read.
    let isArchived = versionNames.count == 1 || ManagedObjectModel.isVersionChecksum(step.source)
    let names = isArchived ? [step.destination] : [step.source, step.destination]
    for name in names where !versionNames.contains(name) { try fail(.unknownVersion(name, known: versionNames)) }
    if step.source == step.destination { try fail(.sameVersion) }
    if steps.contains(where: { $0.source == step.source && $0.destination == step.destination }) { try fail(.repeated) }
    steps.append(step)
    // Copies of the history share the cache, and may have another step of the same name.
    memory = HistoryMemory()
  }

  /// If the version isn't known, all steps are returned but those that start at another unknown
  /// model.
  func steps(from name: String?, _ model: ManagedObjectModel) -> [GivenHop] {
    let names = versionNames
    guard let name, let start = names.firstIndex(of: name), let end = names.firstIndex(of: currentName) else {
      return steps.filter { names.contains($0.source) || model.isNamed($0.source) }
    }
    let way = Set(names[min(start, end)...max(start, end)])
    return steps.filter { way.contains($0.source) && way.contains($0.destination) }
  }

  /// `archived` is the store's model, where a step starts whose source no version has.
  func mapping(of step: GivenHop, from archived: ManagedObjectModel) throws -> MappingModel {
    let source = versionNames.contains(step.source) ? try model(named: step.source) : archived
    guard let earlier = source, let later = try model(named: step.destination) else {
      throw MigrationStepError(
        source: step.source, destination: step.destination, problem: .unknownVersion(step.source, known: versionNames))
    }
    return try step.mapping(earlier, later)
  }

  func stage(of hop: MigrationHop) throws -> (manager: StagedMigrationManager, stage: CustomMigrationStage)? {
    for step in steps where step.willMigrate != nil || step.didMigrate != nil {
      let isArchived = !versionNames.contains(step.source) && hop.source.isNamed(step.source)
      guard try isArchived || model(named: step.source) == hop.source,
        try model(named: step.destination) == hop.destination
      else {
        continue
      }
      func reference(_ model: ManagedObjectModel) -> ManagedObjectModelReference {
        ManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum())
      }
      let stage = CustomMigrationStage(
        migratingFrom: reference(hop.source), to: reference(hop.destination),
        label: "\(step.source) → \(step.destination)")
      (stage.willMigrateHandler, stage.didMigrateHandler) = (step.willMigrate, step.didMigrate)
      return (try StagedMigrationManager([stage]), stage)
    }
    return nil
  }
}

extension ModelHistory {
  func label(of model: ManagedObjectModel) -> String { name(of: model) ?? model.ownName }

  /// For a model that no version has, by its checksum.
  func hasStep(from model: ManagedObjectModel) -> Bool {
    steps.contains { $0.source == model.versionChecksum() }
  }
}

extension ManagedObjectModel {
  /// For a model that no version has: its version identifier, else its version checksum.
  var ownName: String { versionIdentifiers.first { !$0.isEmpty } ?? versionChecksum() }

  fileprivate func isNamed(_ name: String) -> Bool { name == ownName || name == versionChecksum() }

  fileprivate static func isVersionChecksum(_ text: String) -> Bool {
    text.utf8.count == 44 && Data(base64Encoded: text)?.count == 32
  }
}

/// A step that can't be added to a history.
public struct MigrationStepError: Error, Hashable, Sendable {
  /// The name of the source version.
  public let source: String
  /// The name of the destination version.
  public let destination: String
  let problem: Problem

  enum Problem: Hashable, Sendable {
    case unknownVersion(String, known: [String])
    case sameVersion
    case repeated
  }
}

extension MigrationStepError: ExplainedError {
  /// The step and its mistake.
  public var cause: String {
    let step = "The step from \"\(source)\" to \"\(destination)\""
    return switch problem {
    case .unknownVersion(let name, let known):
      "\(step) names a version that the history doesn't have, \"\(name)\"; it has"
        + " \(known.map { "\"\($0)\"" }.joined(separator: ", "))."
    case .sameVersion: "\(step) has the same source and destination; they must differ."
    case .repeated: "\(step) was added twice; add it once, with all of its mappings."
    }
  }

  /// Advice to correct the app's code; no store was opened.
  public var help: ErrorHelp { ErrorHelp(.unchanged, "Correct the step in the app's code.") }
}
