import Heirloom

/// The mapping models that a command line names.
struct GivenMappings {
  /// A mapping model with its file.
  private struct Given {
    let path: String
    let read: ReadMappingModel
    /// The mapping model; with version hashes once it is known for which versions it is.
    var mapping: MappingModel
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
  /// - Throws: `MappingReadingError`, or a failure for a file that doesn't fit the versions that it names.
  init(_ paths: [String], history: ModelHistory, console: Console) throws {
    for path in paths {
      let read = try MappingModelFile.read(path).read
      for warning in read.warnings { console.log("note: \(path): \(warning.description)") }
      var given = Given(path: path, read: read, mapping: read.mappingModel)
      if !read.mappingModel.carriesHashes, let from = read.sourceModelName, let to = read.destinationModelName,
        let source = try history.model(named: from), let destination = try history.model(named: to)
      {
        let mismatches = read.mismatches(from: source, to: destination)
        guard mismatches.isEmpty else { throw Self.misfit(path, from, to, mismatches) }
        given.mapping = read.mappingModel.completed(from: source, to: destination)
      }
      all.append(given)
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

  /// Says which mapping models have no part in a migration, and why.
  ///
  /// - Parameters:
  ///   - source: The model that made the store.
  ///   - destination: The current model.
  /// - Returns: A sentence for each.
  func notes(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    all.compactMap { given in
      let mismatches =
        given.mapping.carriesHashes
        ? given.mapping.mismatches(from: source, to: destination)
        : given.read.mismatches(from: source, to: destination)
      return mismatches.first.map { "\(given.path) is not for this step: \($0.description)" }
    }
  }

  private static func misfit(
    _ path: String, _ source: String, _ destination: String, _ mismatches: [MappingMismatch]
  ) -> CommandFailure {
    var failure = CommandFailure(
      exitCode: .decisionNeeded, code: "mappingMismatch", coreDataCode: 134_140,
      message: "\(path) is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them: "
        + mismatches.map(\.description).joined(separator: " "),
      suggestion: "Give the mapping model that belongs to these versions.")
    failure.list = (
      "\(path) is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them:",
      mismatches.map(\.description)
    )
    return failure
  }
}
