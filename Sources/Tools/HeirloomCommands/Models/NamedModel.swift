import Foundation
import Heirloom

struct NamedModel {
  let name: String
  let model: ManagedObjectModel
  /// Parts of its file that the reader didn't understand.
  var warnings: [String] = []
  /// The path names this version or its whole bundle, instead of another version of it.
  var isGiven = true
  /// Source locations of entities and properties, by `Entity` and `Entity.property`.
  var places: [String: String] = [:]

  init(name: String, model: ManagedObjectModel, warnings: [String] = [], isGiven: Bool = true) {
    self.name = name
    self.model = model
    self.warnings = warnings
    self.isGiven = isGiven
  }

  /// With `acceptsDoubts`, an ambiguous model of Swift source is a warning instead of an error.
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
    if case .inMemory(let held) = version.file.kind, case .doubtful(let model, let problem) = held.reading,
      acceptsDoubts
    {
      self.init(name: version.name, model: model, warnings: list.warnings + [problem.cause])
    } else {
      let read = try version.file.read()
      self.init(name: version.name, model: read.model, warnings: list.warnings + read.warnings.map(\.description))
    }
    if case .inMemory(let held) = version.file.kind { places = held.places }
  }

  /// `isKnown` returns true for a version to skip; its second argument is true if the path names
  /// it.
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
      // The requested version must be readable; the others are optional.
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

  /// For each path, the nearest to the current version first, as in the assistant.
  static func likeliestFirst(at words: [String], console: Console) throws -> [NamedModel] {
    try groups(at: words, console: console).flatMap(\.self)
  }

  /// One group for each path.
  static func groups(at words: [String], console: Console) throws -> [[NamedModel]] {
    try words.map(console.path).flatMap(Console.modelPaths).map { path in
      try likeliestFirst(in: console.versions(at: path), at: path, console: console)
    }
  }

  /// With `needsCurrent`, an unreadable current version is an error.
  static func likeliestFirst(
    in list: ModelVersionList, at path: String, console: Console, needsCurrent: Bool = true
  ) throws -> [NamedModel] {
    let all = try all(in: list, at: path, console: console, needsCurrent: needsCurrent)
    let end = all.firstIndex { $0.name == list.currentVersionName }.map { $0 + 1 } ?? all.count
    return all[..<end].reversed() + all[end...]
  }
}

extension [NamedModel] {
  func fitting(_ hashes: [String: VersionHash]) -> [VersionCandidate] {
    filter { $0.model.versionHashes() == hashes }.map {
      VersionCandidate(name: $0.name, model: $0.model, isGiven: $0.isGiven)
    }
  }

  var candidates: [StoreModelCandidate] {
    map { StoreModelCandidate(source: .file($0.name), model: $0.model, isGiven: $0.isGiven) }
  }
}
