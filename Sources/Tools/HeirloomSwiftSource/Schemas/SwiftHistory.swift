package import HeirloomFormats

/// Swift source that was read once: its files, and the schemas and plans that they declare.
package struct SwiftHistory {
  package let folder: SwiftFolder
  package let schemas: SwiftDataSchemas

  /// Reads a file or a folder, without paths to exclude, relative to the folder.
  ///
  /// Throws `ModelReadingError` if a file can't be read, or if there are more files than any app has.
  package init(_ path: String, excluding: [String] = []) throws(ModelReadingError) {
    folder = try SwiftFolder(path, excluding: excluding)
    schemas = SwiftDataSchemas(folder.source)
  }

  /// Lists the versions, the last of which is current unless another is named; see
  /// ``HeirloomFormats/ModelVersionList/init(swiftSource:named:excluding:)``.
  package func versions(named name: String? = nil) throws(ModelReadingError) -> ModelVersionList {
    let versions = try SwiftVersions(self, named: name)
    return try ModelVersionList(
      named: folder.name, held: versions.all, current: versions.current, stepsByCode: versions.stepsByCode,
      lockIn: folder.directory)
  }
}
