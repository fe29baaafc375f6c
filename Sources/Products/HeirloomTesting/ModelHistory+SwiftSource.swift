public import Foundation
public import Heirloom
import HeirloomFormats
import HeirloomSwiftSource

extension ModelHistory {
  /// Reads a history from the Swift source of SwiftData models, with the version hashes that SwiftData computes.
  ///
  /// It is for tests and tools, because an app doesn't contain its source. The versions are the schemas of the
  /// migration plan, in its order; without a plan, all versioned schemas in the order of their identifiers; without
  /// those, the list of classes that the app passes to its container. A step with a custom stage needs the app's code,
  /// as in `history.step(from:to:)`.
  ///
  /// ```
  /// let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Trips")
  /// let history = try ModelHistory(swiftSource: sources)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A folder, or a file whose name ends with `.swift`.
  ///   - name: The name of the schema to use as the current version; `nil` for the last.
  ///   - excluding: The folders and files to leave out, as paths relative to the folder.
  /// - Throws: ``ModelReadingError`` if the versions, or the current one, can't be determined from the source.
  public init(
    swiftSource url: URL, named name: String? = nil, excluding: [String] = []
  ) throws(ModelReadingError) {
    let list = try ModelVersionList(swiftSource: url.path, named: name, excluding: excluding)
    try self.init(list, path: url.path)
  }
}
