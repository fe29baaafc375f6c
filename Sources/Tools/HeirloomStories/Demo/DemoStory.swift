package import Heirloom

/// The models of a story as shipped.
package struct DemoStory {
  package struct Version {
    let name: String
    let model: ManagedObjectModel
    /// From the story's lock; `nil` if the lock has none.
    let lockedChecksum: String?

    package init(name: String, model: ManagedObjectModel, lockedChecksum: String?) {
      self.name = name
      self.model = model
      self.lockedChecksum = lockedChecksum
    }
  }

  let versions: [Version]

  /// Throws if a version differs from the story's lock, or one of `versionCount` is missing.
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

  /// The history of an app whose current version is at `index`.
  func history(at index: Int) -> ModelHistory {
    let current = versions[index]
    return ModelHistory(
      current: current.model, name: current.name, earlier: versions[..<index].map { ($0.name, $0.model) })
  }
}
