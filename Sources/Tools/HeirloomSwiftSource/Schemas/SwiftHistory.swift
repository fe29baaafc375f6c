package import HeirloomFormats

/// Swift source that was read once: its files, and the schemas and plans that they declare.
package struct SwiftHistory {
  package let folder: SwiftFolder
  package let schemas: SwiftDataSchemas

  /// `excluding` has paths relative to the folder.
  package init(_ path: String, excluding: [String] = []) throws(ModelReadingError) {
    folder = try SwiftFolder(path, excluding: excluding)
    schemas = SwiftDataSchemas(folder.source)
  }

  /// The last one is current unless another is named.
  package func versions(named name: String? = nil) throws(ModelReadingError) -> ModelVersionList {
    let versions = try SwiftVersions(self, named: name)
    return try ModelVersionList(
      named: folder.name, held: versions.all, current: versions.current, stepsByCode: versions.stepsByCode,
      lockIn: folder.directory)
  }
}
