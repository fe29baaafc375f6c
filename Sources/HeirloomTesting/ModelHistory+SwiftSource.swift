public import Foundation
public import Heirloom
import HeirloomFormats
import HeirloomSwiftSource

extension ModelHistory {
  /// Reads a history from the Swift source of SwiftData's models, with the version hashes that SwiftData gives them.
  ///
  /// It is for tests and tools: an app doesn't ship its source. The versions are the schemas of the migration plan, in
  /// its order; without a plan all versioned schemas by their identifiers; without any the list of classes that the app
  /// gives to its container. A step with a custom stage needs the app's code, as in `history.step(from:to:)`.
  ///
  /// ```
  /// let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Trips")
  /// let history = try ModelHistory(swiftSource: sources)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A folder, or a file whose name ends with `.swift`.
  ///   - name: The version to take as the current one, by the name of its schema; `nil` for the last.
  ///   - excluding: Folders and files to leave out, as paths from the folder.
  /// - Throws: ``ModelReadingError`` if the source doesn't tell the versions, or the current one, for sure.
  public init(
    swiftSource url: URL, named name: String? = nil, excluding: [String] = []
  ) throws(ModelReadingError) {
    let list = try ModelVersionList(swiftSource: url.path, named: name, excluding: excluding)
    try self.init(list, path: url.path)
  }
}
