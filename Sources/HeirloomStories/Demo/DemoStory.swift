package import Heirloom

/// The models of a story as they were shipped.
package struct DemoStory {
  /// One shipped version.
  package struct Version {
    /// The version's name.
    let name: String
    /// The model.
    let model: ManagedObjectModel
    /// The version's checksum in the story's lock; `nil` if the lock has none.
    let lockedChecksum: String?

    /// Creates a version.
    package init(name: String, model: ManagedObjectModel, lockedChecksum: String?) {
      self.name = name
      self.model = model
      self.lockedChecksum = lockedChecksum
    }
  }

  /// The versions in their order.
  let versions: [Version]

  /// Creates a story and checks it against its lock.
  ///
  /// - Parameters:
  ///   - versions: The versions in their order.
  ///   - folder: The story's folder.
  ///   - versionCount: The number of versions that the story goes through.
  /// - Throws: ``DemoFailure`` when a shipped version was edited, or when one is missing.
  package init(_ versions: [Version], folder: String, versionCount: Int) throws(DemoFailure) {
    for version in versions {
      let checksum = version.model.versionChecksum()
      if let locked = version.lockedChecksum, locked != checksum {
        throw .editedVersion(name: version.name, folder: folder, checksum: checksum, locked: locked)
      }
    }
    guard versions.count >= versionCount else {
      throw .missingVersions(folder: folder, found: versions.count, expected: versionCount)
    }
    self.versions = versions
  }

  /// Returns the history of an app that ships one of the versions.
  func history(at index: Int) -> ModelHistory {
    let current = versions[index]
    return ModelHistory(
      current: current.model, name: current.name, earlier: versions[..<index].map { ($0.name, $0.model) })
  }
}
