/// A story that can't be told, or did not go as it should.
package enum DemoFailure: Error {
  /// The version `name` of the story in `folder` was edited after it was shipped.
  case editedVersion(name: String, folder: String, checksum: String, locked: String)
  /// The story in `folder` has `found` versions, fewer than it needs.
  case missingVersions(folder: String, found: Int, expected: Int)
  /// Something was not as it should be.
  case wentWrong(String, storePath: String)
}
