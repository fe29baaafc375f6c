package import HeirloomMapping
package import HeirloomModel

/// A mapping model with the other content of its file.
package struct ReadMappingModel: Hashable, Sendable {
  /// The mapping model; `MappingModel.completed(from:to:)` infers what the file lists without an expression.
  package var mappingModel: MappingModel
  /// The warnings about what was not understood or left out, in the order of the file.
  package var warnings: [ModelReadingWarning] = []
  /// The project's path of the source model, as a source file names it.
  package var sourceModelPath: String?
  /// The project's path of the destination model, as a source file names it.
  package var destinationModelPath: String?

  /// The name of the source version, if the file names a path.
  package var sourceModelName: String? { sourceModelPath.flatMap(Self.versionName) }
  /// The name of the destination version, if the file names a path.
  package var destinationModelName: String? { destinationModelPath.flatMap(Self.versionName) }

  /// Lists the mismatches between the mapping model and two models.
  ///
  /// A compiled mapping model fits by version hashes; a source file has none and fits by the names of entities and
  /// properties.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  /// - Returns: The mismatches in the order of the entity mappings; none if the mapping model fits.
  package func mismatches(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingMismatch] {
    mappingModel.mismatches(from: source, to: destination)
  }

  private static func versionName(_ path: String) -> String? {
    let name = FileNames.base(path, without: FileNames.sourceExtension)
    return name.isEmpty ? nil : name
  }
}

extension MappingModel {
  /// True when every entity mapping carries the version hashes of the entities that it names.
  package var carriesHashes: Bool {
    !entityMappings.isEmpty
      && entityMappings.allSatisfy { mapping in
        (mapping.sourceEntityName == nil || mapping.sourceEntityVersionHash != nil)
          && (mapping.destinationEntityName == nil || mapping.destinationEntityVersionHash != nil)
      }
  }
}
