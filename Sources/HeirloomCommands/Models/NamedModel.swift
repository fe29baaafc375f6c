import Foundation
import Heirloom

/// A model that the command line leads to, with its name.
struct NamedModel {
  /// The version's name.
  let name: String
  /// The model.
  let model: ManagedObjectModel
  /// The parts of its file that were not understood.
  var warnings: [String] = []
  /// True when the path leads to this version, or to all of its bundle, rather than to another one in it.
  var isGiven = true
  /// The places in Swift source of entities and properties, by `Entity` and `Entity.property`.
  var places: [String: String] = [:]

  /// Creates a named model.
  init(name: String, model: ManagedObjectModel, warnings: [String] = [], isGiven: Bool = true) {
    self.name = name
    self.model = model
    self.warnings = warnings
    self.isGiven = isGiven
  }

  /// Reads the model at a path: that of a model's file or bundle, or the one that a store was made with.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - console: Reads it.
  ///   - acceptsDoubts: True if a model of Swift source may be uncertain, which is a warning then.
  ///   - known: Finds versions that may have made a store.
  /// - Throws: `ModelReadingError`, `StoreError`, or a failure when a store has no model that fits.
  init(
    at path: String, console: Console, acceptsDoubts: Bool = false, known: StoreInspection.Known = { _ in [] }
  ) throws {
    if case .database = PathKind(path) {
      let inspection = try StoreInspection(at: path, known: known)
      guard let model = inspection.model else { throw inspection.modelIsMissing }
      self.init(name: URL(fileURLWithPath: path).lastPathComponent, model: model, warnings: inspection.notes)
      return
    }
    let list = try console.versions(at: path)
    guard let version = list.currentVersion else {
      throw ModelReadingError(path: path, problem: .notModel(.bundleWithoutVersions))
    }
    if case .held(let held) = version.file.kind, case .doubtful(let model, let problem) = held.reading, acceptsDoubts {
      self.init(name: version.name, model: model, warnings: list.warnings + [problem.cause])
    } else {
      let read = try version.file.read()
      self.init(name: version.name, model: read.model, warnings: list.warnings + read.warnings.map(\.description))
    }
    if case .held(let held) = version.file.kind { places = held.places }
  }

  /// Reads all versions at a path: those of a bundle, or one.
  ///
  /// - Parameters:
  ///   - path: The path of a model.
  ///   - console: Receives notes on versions that can't be read.
  ///   - isKnown: Returns true for a version that need not be read; it hears whether the path leads to it.
  /// - Returns: The versions in their order, those left out that are known.
  /// - Throws: `ModelReadingError` if no version can be read.
  static func all(
    at path: String, console: Console,
    without isKnown: (_ version: ModelVersionList.Version, _ isGiven: Bool) -> Bool = { _, _ in false }
  ) throws -> [NamedModel] {
    try all(in: console.versions(at: path), at: path, console: console, without: isKnown)
  }

  private static func all(
    in list: ModelVersionList, at path: String, console: Console, needsCurrent: Bool = true,
    without isKnown: (_ version: ModelVersionList.Version, _ isGiven: Bool) -> Bool = { _, _ in false }
  ) throws -> [NamedModel] {
    let namesOne = try console.namesOneVersion(path, in: list)
    var models: [NamedModel] = []
    for version in list.versions {
      // The requested version must be readable; its sisters only help.
      let isRequested = list.versions.count == 1 || version.name == list.currentVersionName
      let isGiven = !namesOne || isRequested
      if !isRequested, isKnown(version, isGiven) { continue }
      do throws(ModelReadingError) {
        let read = try version.file.read()
        models.append(
          NamedModel(
            name: version.name, model: read.model, warnings: read.warnings.map(\.description), isGiven: isGiven))
      } catch {
        if isRequested, needsCurrent || list.versions.count == 1 { throw error }
        console.log("note: \(error.description)")
      }
    }
    return models
  }

  /// Reads the models that `--model` names for a store.
  ///
  /// - Parameters:
  ///   - words: The paths as they were given.
  ///   - console: Tells where paths start, and receives notes on versions that can't be read.
  /// - Returns: The models; for each path, those nearest to the current version first, as the assistant has them.
  /// - Throws: `ModelReadingError` for a path that leads to no model.
  static func likeliestFirst(at words: [String], console: Console) throws -> [NamedModel] {
    try groups(at: words, console: console).flatMap(\.self)
  }

  /// Reads the models that `--model` names, those at one path together.
  static func groups(at words: [String], console: Console) throws -> [[NamedModel]] {
    try words.map(console.path).flatMap(Console.modelPaths).map { path in
      try likeliestFirst(in: console.versions(at: path), at: path, console: console)
    }
  }

  /// Reads the versions of a list, in the same order.
  ///
  /// - Parameters:
  ///   - list: The versions.
  ///   - path: Their path.
  ///   - console: Receives notes on versions that can't be read.
  ///   - needsCurrent: True if the current version has to be readable; else one of several may be missing.
  /// - Returns: The models.
  /// - Throws: `ModelReadingError` if the current version, or the only one, can't be read.
  static func likeliestFirst(
    in list: ModelVersionList, at path: String, console: Console, needsCurrent: Bool = true
  ) throws -> [NamedModel] {
    let all = try all(in: list, at: path, console: console, needsCurrent: needsCurrent)
    let end = all.firstIndex { $0.name == list.currentVersionName }.map { $0 + 1 } ?? all.count
    return all[..<end].reversed() + all[end...]
  }
}

extension [NamedModel] {
  /// Returns the models that have a store's hashes.
  func fitting(_ hashes: [String: VersionHash]) -> [VersionCandidate] {
    filter { $0.model.versionHashes() == hashes }.map {
      VersionCandidate(name: $0.name, model: $0.model, isGiven: $0.isGiven)
    }
  }

  /// The models as candidates for a store's verification.
  var candidates: [StoreModelCandidate] {
    map { StoreModelCandidate(source: .file($0.name), model: $0.model, isGiven: $0.isGiven) }
  }
}
