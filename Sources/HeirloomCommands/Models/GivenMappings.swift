import Heirloom

/// The mapping models that a command line names.
struct GivenMappings {
  /// A mapping model with its file.
  private struct Given {
    let path: String
    let read: ReadMappingModel
    /// The mapping model; with version hashes once it is known for which versions it is.
    let mapping: MappingModel
  }

  private var all: [Given] = []

  /// Whether none was named.
  var isEmpty: Bool { all.isEmpty }

  /// Reads mapping models and finds the versions that they are for.
  ///
  /// - Parameters:
  ///   - paths: The files.
  ///   - history: The versions that are known.
  ///   - console: Told of what is not understood in the files.
  /// - Throws: `MappingReadingError`, also for a file that doesn't fit the versions that it names.
  init(_ paths: [String], history: ModelHistory, console: Console) throws {
    for path in paths {
      let read = try MappingModelFile.read(path).read
      for warning in read.warnings { console.log("note: \(path): \(warning.description)") }
      // Without known versions, entities and properties by their names have to do.
      let bound = try history.bound(read, path: path)
      all.append(Given(path: path, read: read, mapping: bound ?? read.mappingModel))
    }
  }

  /// The mapping models for the assistant.
  ///
  /// - Parameters:
  ///   - source: The model that made the store, if it is known.
  ///   - destination: The current model.
  /// - Returns: Mapping models with version hashes, and those without that fit; all if the store's model is not known.
  func models(from source: ManagedObjectModel?, to destination: ManagedObjectModel) -> [MappingModel] {
    all.compactMap { given in
      if given.mapping.carriesHashes { return given.mapping }
      guard let source else { return given.mapping }
      guard given.read.mismatches(from: source, to: destination).isEmpty else { return nil }
      return given.mapping.completed(from: source, to: destination)
    }
  }

  /// Says which mapping models have no part in a migration.
  ///
  /// - Parameter models: The model that made the store, those that may lie on the way, and the current one.
  /// - Returns: A sentence for each.
  func notes(onTheWayThrough models: [ManagedObjectModel]) -> [String] {
    let hashes = models.map { $0.versionHashes() }
    return all.compactMap { Self.note($0, models[...], hashes[...]) }
  }

  /// Lists the mapping models that have no part in the migration of any version to the last.
  ///
  /// - Parameter models: The versions in their order.
  /// - Returns: The file of each, with a sentence.
  func unused(by models: [ManagedObjectModel]) -> [(path: String, note: String)] {
    let hashes = models.map { $0.versionHashes() }
    return all.compactMap { given in
      var last: String?
      for start in models.indices.dropLast() {
        guard let note = Self.note(given, models[start...], hashes[start...]) else { return nil }
        last = note
      }
      return last.map { (given.path, $0) }
    }
  }

  /// Says why a mapping model has no part in a migration; `nil` if it has.
  private static func note(
    _ given: Given, _ models: ArraySlice<ManagedObjectModel>, _ hashes: ArraySlice<[String: VersionHash]>
  ) -> String? {
    guard let source = models.first, let destination = models.last else { return nil }
    let mismatches =
      given.mapping.carriesHashes
      ? given.mapping.mismatches(from: source, to: destination)
      : given.read.mismatches(from: source, to: destination)
    guard let first = mismatches.first else { return nil }
    // A mapping model may also be for a part of the way.
    let starts = models.indices.filter { given.mapping.starts(at: hashes[$0]) }
    let ends = models.indices.filter { given.mapping.ends(at: hashes[$0]) }
    if given.mapping.carriesHashes, starts.contains(where: { start in ends.contains { $0 != start } }) { return nil }
    return "\(given.path) is not for this migration: \(first.description)"
  }
}

extension MappingModel {
  /// Whether all entities that objects come from are those of a version.
  fileprivate func starts(at hashes: [String: VersionHash]) -> Bool {
    entityMappings.allSatisfy { mapping in
      mapping.sourceEntityName.map { hashes[$0] == mapping.sourceEntityVersionHash } ?? true
    }
  }

  /// Whether all entities that objects become part of are those of a version.
  fileprivate func ends(at hashes: [String: VersionHash]) -> Bool {
    entityMappings.allSatisfy { mapping in
      mapping.destinationEntityName.map { hashes[$0] == mapping.destinationEntityVersionHash } ?? true
    }
  }
}
