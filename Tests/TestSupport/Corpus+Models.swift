package import Foundation
import HeirloomFormats
package import HeirloomModel
import HeirloomStore

extension Corpus {
  /// Finds the one model version of the given file name below a project's folder.
  ///
  /// - Parameters:
  ///   - name: The folder's name without `.xcdatamodel`.
  ///   - project: The project's folder; `project/models/Bundle.xcdatamodeld` tells bundles apart.
  /// - Returns: The version's location.
  /// - Throws: `CocoaError` when there is none.
  package static func modelURL(_ name: String, in project: String) throws -> URL {
    guard let path = modelPaths.first(where: { $0.hasPrefix(project) && $0.hasSuffix("/\(name).xcdatamodel") }) else {
      throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "\(project)/…/\(name).xcdatamodel"])
    }
    return folder.appendingPathComponent(path)
  }

  /// Reads the one model version of the given file name below a project's folder.
  package static func model(_ name: String, in project: String) throws -> ManagedObjectModel {
    try model(at: modelURL(name, in: project).path)
  }

  /// Reads a model, once for all tests.
  ///
  /// - Parameter path: The path of the model.
  /// - Returns: The model.
  /// - Throws: The reader's error.
  package static func model(at path: String) throws -> ManagedObjectModel {
    if let known = models.withLock({ $0[path] }) { return known }
    let model = try ModelFile.read(path).model
    models.withLock { $0[path] = model }
    return model
  }

  private static let models = Locked<[String: ManagedObjectModel]>([:])

  private static let hashes = Locked<[String: [String: VersionHash]]>([:])

  /// Reads the version hashes in a store's metadata, once for all tests.
  ///
  /// - Parameter path: The store's path, relative to ``folder``.
  /// - Returns: The hashes by entity.
  /// - Throws: The error of the file system, or the metadata's.
  package static func versionHashes(ofStore path: String) throws -> [String: VersionHash] {
    if let known = hashes.withLock({ $0[path] }) { return known }
    let stored = try withCopy(of: path) { try StoreMetadata(contentsOf: $0).versionHashes }
    hashes.withLock { $0[path] = stored }
    return stored
  }

  /// A version of a bundle, read.
  package struct Version: Sendable {
    /// The version's name.
    package let name: String
    /// The path of the version.
    package let path: String
    /// The model.
    package let model: ManagedObjectModel
    /// The model's hashes.
    package let hashes: [String: VersionHash]
  }

  private static let read = Locked<[String: [Version]]>([:])

  /// Reads all versions of a bundle in their order, once for all tests.
  ///
  /// - Parameter bundle: The bundle's path, relative to ``folder``.
  /// - Returns: The versions.
  /// - Throws: The reader's error.
  package static func versions(of bundle: String) throws -> [Version] {
    if let known = read.withLock({ $0[bundle] }) { return known }
    let list = try ModelVersionList(folder.appendingPathComponent(bundle).path)
    let versions = try list.versions.map { version in
      let model = try model(at: version.file.path)
      return Version(name: version.name, path: version.file.path, model: model, hashes: model.versionHashes())
    }
    read.withLock { $0[bundle] = versions }
    return versions
  }
}
