package enum DemoFailure: Error {
  /// The version was edited after it shipped.
  case editedVersion(name: String, folder: String, checksum: String, locked: String)
  case missingVersions(folder: String, found: Int, expected: Int)
  case wentWrong(String, storePath: String)
}
