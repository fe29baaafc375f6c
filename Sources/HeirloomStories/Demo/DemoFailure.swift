/// The failure of a story that can't be told, or that went wrong.
package enum DemoFailure: Error {
  /// A version `name`, of the story in `folder`, that was edited after it was shipped.
  case editedVersion(name: String, folder: String, checksum: String, locked: String)
  /// A story in `folder` with `found` versions, fewer than it needs.
  case missingVersions(folder: String, found: Int, expected: Int)
  /// A story that went wrong, as the text says.
  case wentWrong(String, storePath: String)
}
