package import Foundation
package import HeirloomFormats
package import HeirloomModel
import HeirloomStore
import Testing

extension Corpus {
  /// The first version of that name, without `.xcdatamodel`, whose path begins with `project`: a
  /// project's folder, or `project/models/Bundle.xcdatamodeld` to tell bundles apart.
  package static func modelURL(_ name: String, in project: String) throws -> URL {
    guard let path = modelPaths.first(where: { $0.hasPrefix(project) && $0.hasSuffix("/\(name).xcdatamodel") }) else {
      throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "\(project)/…/\(name).xcdatamodel"])
    }
    return folder.appendingPathComponent(path)
  }

  package static func model(_ name: String, in project: String) throws -> ManagedObjectModel {
    try model(at: modelURL(name, in: project).path)
  }

  /// Read once for all tests.
  package static func model(at path: String) throws -> ManagedObjectModel {
    if let known = models.withLock({ $0[path] }) { return known }
    let model = try ModelFile.read(path).model
    models.withLock { $0[path] = model }
    return model
  }

  /// Those that a mapping model's source names, in the bundle that it names.
  package static func models(
    of read: ReadMappingModel, in project: String
  ) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func model(_ path: String?) throws -> ManagedObjectModel {
      let end = try #require(path).split(separator: "/").suffix(2).joined(separator: "/")
      let found = modelPaths.first { $0.hasPrefix("\(project)/models/") && $0.hasSuffix("/\(end)") }
      return try self.model(at: folder.appendingPathComponent(try #require(found)).path)
    }
    return (try model(read.sourceModelPath), try model(read.destinationModelPath))
  }

  private static let models = Locked<[String: ManagedObjectModel]>([:])

  private static let hashes = Locked<[String: [String: VersionHash]]>([:])

  /// Read once for all tests; `path` is relative to ``folder``.
  package static func versionHashes(ofStore path: String) throws -> [String: VersionHash] {
    if let known = hashes.withLock({ $0[path] }) { return known }
    let stored = try withCopy(of: path) { try StoreMetadata(contentsOf: $0).versionHashes }
    hashes.withLock { $0[path] = stored }
    return stored
  }

  package struct Version: Sendable {
    package let name: String
    package let path: String
    package let model: ManagedObjectModel
    package let hashes: [String: VersionHash]
  }

  private static let read = Locked<[String: [Version]]>([:])

  /// In the list's order, read once for all tests; `bundle` is relative to ``folder``.
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
