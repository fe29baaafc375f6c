package import HeirloomMapping
package import HeirloomModel

/// A mapping model with the other content of its file.
package struct ReadMappingModel: Hashable, Sendable {
  /// `MappingModel.completed(from:to:)` infers listed properties without an expression.
  package var mappingModel: MappingModel
  /// In the order of the file.
  package var warnings: [ModelReadingWarning] = []
  /// A path in the Xcode project; only source files contain it.
  package var sourceModelPath: String?
  /// A path in the Xcode project; only source files contain it.
  package var destinationModelPath: String?

  package var sourceModelName: String? { sourceModelPath.flatMap(Self.versionName) }
  package var destinationModelName: String? { destinationModelPath.flatMap(Self.versionName) }

  /// A compiled mapping model is matched by version hashes, a source file by names.
  package func mismatches(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingMismatch] {
    mappingModel.mismatches(from: source, to: destination)
  }

  private static func versionName(_ path: String) -> String? {
    let name = FileNames.base(path, without: FileNames.sourceExtension)
    return name.isEmpty ? nil : name
  }
}

extension MappingModel {
  package var carriesHashes: Bool {
    !entityMappings.isEmpty
      && entityMappings.allSatisfy { mapping in
        (mapping.sourceEntityName == nil || mapping.sourceEntityVersionHash != nil)
          && (mapping.destinationEntityName == nil || mapping.destinationEntityVersionHash != nil)
      }
  }
}
