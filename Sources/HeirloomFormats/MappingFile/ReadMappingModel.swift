package import HeirloomMapping
package import HeirloomModel

/// A mapping model with the other content of its file.
package struct ReadMappingModel: Hashable, Sendable {
  /// The mapping model; `MappingModel.completed(from:to:)` infers the properties that the file lists without an
  /// expression.
  package var mappingModel: MappingModel
  /// The warnings about unknown or omitted content, in the order of the file.
  package var warnings: [ModelReadingWarning] = []
  /// The source model's path in the Xcode project; only source files contain it.
  package var sourceModelPath: String?
  /// The destination model's path in the Xcode project; only source files contain it.
  package var destinationModelPath: String?

  /// The name of the source version, taken from the path.
  package var sourceModelName: String? { sourceModelPath.flatMap(Self.versionName) }
  /// The name of the destination version, taken from the path.
  package var destinationModelName: String? { destinationModelPath.flatMap(Self.versionName) }

  /// Lists the mismatches between the mapping model and two models, in the order of the entity mappings.
  ///
  /// A compiled mapping model is matched by version hashes, a source file by the names of entities and properties.
  package func mismatches(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingMismatch] {
    mappingModel.mismatches(from: source, to: destination)
  }

  private static func versionName(_ path: String) -> String? {
    let name = FileNames.base(path, without: FileNames.sourceExtension)
    return name.isEmpty ? nil : name
  }
}

extension MappingModel {
  /// True when every entity mapping has the version hashes of its entities.
  package var carriesHashes: Bool {
    !entityMappings.isEmpty
      && entityMappings.allSatisfy { mapping in
        (mapping.sourceEntityName == nil || mapping.sourceEntityVersionHash != nil)
          && (mapping.destinationEntityName == nil || mapping.destinationEntityVersionHash != nil)
      }
  }
}
