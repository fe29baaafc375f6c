/// The failure of a story that can't be run or went wrong.
package enum DemoFailure: Error {
  /// The version `name` of the story in `folder` was edited after it shipped.
  case editedVersion(name: String, folder: String, checksum: String, locked: String)
  /// The story in `folder` has `found` versions, fewer than it needs.
  case missingVersions(folder: String, found: Int, expected: Int)
  /// The story went wrong, as the text describes.
  case wentWrong(String, storePath: String)
}
