package import Foundation
import HeirloomFormats
package import HeirloomModel

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
    try ModelFile.read(modelURL(name, in: project).path).model
  }
}
