import Heirloom

/// The models of a story, each as it was shipped.
struct DemoStory {
  /// The versions in their order.
  let versions: [NamedModel]

  /// Reads a story and checks it against its lock.
  ///
  /// - Parameters:
  ///   - folder: The story's folder.
  ///   - versionCount: The number of versions that the story goes through.
  /// - Throws: `ModelReadingError`, or a failure when a shipped version was edited.
  init(folder: String, versionCount: Int) throws {
    let list = try ModelVersionList(folder)
    versions = try list.versions.map { version in
      let model = try version.file.read().model
      let checksum = model.versionChecksum()
      if let locked = version.lockedChecksum, locked != checksum {
        throw CommandFailure(
          exitCode: .failed, code: "editedVersion",
          message: "The version \"\(version.name)\" in \(folder) was edited after it was shipped: its checksum is"
            + " \(checksum), and lock.json has \(locked).",
          suggestion: "Restore the version, for example from version control.")
      }
      return NamedModel(name: version.name, model: model)
    }
    guard versions.count >= versionCount else {
      throw CommandFailure(
        exitCode: .failed, code: "missing",
        message: "The story in \(folder) has \(versions.count) versions; expected \(versionCount).",
        suggestion: "Restore the story, for example from version control.")
    }
  }

  /// The history of an app that ships one of the versions.
  func history(at index: Int) -> ModelHistory {
    let current = versions[index]
    return ModelHistory(
      current: current.model, name: current.name, earlier: versions[..<index].map { ($0.name, $0.model) })
  }
}
