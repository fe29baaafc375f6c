public import Foundation
package import HeirloomFormats
import HeirloomMigration
public import HeirloomModel
import HeirloomStore
import HeirloomVault

/// Keeps the last-used model, compressed, beside its store.
public struct ModelController: Sendable {
  /// The store beside which the model is kept; `nil` if the snapshot is in a file of the app's choice.
  public let storeURL: URL?
  /// The snapshot's file.
  public let snapshotURL: URL

  private let files: any FileOperations
  private let location: StoreLocation?
  private let users = Locked(Users())

  /// The assistants that use this controller or a copy of it.
  private final class Users {
    /// For a snapshot that is elsewhere.
    var stores: [URL] = []
    /// Of the assistant that was created last.
    var history: ModelHistory?
  }

  /// Creates a controller that keeps the model in the store's companion folder, `<store>.heirloom/model.json.gz`.
  ///
  /// If the store is gone and `PersistentStore.open` creates a new one, the model of the previous store stays beside
  /// it, as `model.json.gz-<version checksum>`.
  ///
  /// - Parameter storeURL: The store; it need not exist yet, but its folder must.
  public init(storeURL: URL) {
    self.init(storeURL: storeURL, files: POSIXFileOperations())
  }

  /// Creates a controller that keeps the model in a file of the app's choice.
  ///
  /// Its store is that of the ``MigrationAssistant`` that uses the controller. Before there is one,
  /// ``archive(_:applicationVersion:)`` can't refuse a model that the store doesn't have yet. It then keeps the model
  /// that it replaces in a file beside the snapshot, `<name>-<version checksum>`, where assistants look for it too.
  ///
  /// - Parameter snapshotURL: The file; its folder must exist.
  public init(snapshotURL: URL) {
    self.init(snapshotURL: snapshotURL, files: POSIXFileOperations())
  }

  package init(snapshotURL: URL, files: any FileOperations) {
    storeURL = nil
    self.snapshotURL = snapshotURL
    self.files = files
    location = nil
  }

  package init(storeURL: URL, files: any FileOperations) {
    self.storeURL = storeURL
    // Links beside the store are not followed.
    self.files = files.withoutLinks
    location = try? StoreLocation(resolving: storeURL.path, files: files)
    snapshotURL = URL(fileURLWithPath: location?.snapshot ?? storeURL.path + ".heirloom/model.json.gz")
  }

  /// Throws `ModelReadingError` for a snapshot that is damaged, or whose hashes don't fit its
  /// model.
  package func snapshot() throws -> ModelSnapshot? {
    if let location { try StoreVault(location, files: files).checkOwner(of: location.snapshot) }
    guard let bytes = try SnapshotFile(path: snapshotURL.path, files: files).read() else { return nil }
    do {
      return try ModelSnapshot(bytes: bytes)
    } catch {
      throw error.inFile(snapshotURL.path)
    }
  }

  /// Archives a model as the last-used one; does nothing if the snapshot has that model already.
  ///
  /// The snapshot also records the versions before the model, from the history of the ``MigrationAssistant`` that uses
  /// the controller. An earlier release of the app, which has only one of them, can detect a downgrade by that.
  ///
  /// - Parameters:
  ///   - model: The model that the app uses now.
  ///   - applicationVersion: The app's version, for display.
  /// - Returns: True if the snapshot was written.
  /// - Throws: ``MigrationAssistantError/storeNotMigrated(storePath:)`` while its store is of another version: the
  ///   snapshot must not hide a failed migration;
  ///   ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the file can't be written.
  @discardableResult
  public func archive(
    _ model: ManagedObjectModel, applicationVersion: String? = nil
  ) throws(MigrationAssistantError) -> Bool {
    try archive(model, applicationVersion: applicationVersion, earlierVersions: earlierVersions(than: model))
  }

  @discardableResult
  func archive(
    _ model: ManagedObjectModel, applicationVersion: String?, earlierVersions: @autoclosure () -> [String]
  ) throws(MigrationAssistantError) -> Bool {
    let path = storeURL?.path ?? snapshotURL.path
    do {
      let file = SnapshotFile(path: snapshotURL.path, files: files)
      // A snapshot that can't be read has no use and is replaced.
      let replaced = try? file.read()
      if let replaced, ModelSnapshot.file(replaced, holds: model) { return false }
      let stores = storeURL.map { [$0] } ?? users.withLock { $0.stores }
      for store in stores { try check(store, has: model) }
      var snapshot = ModelSnapshot(model: model, applicationVersion: applicationVersion)
      snapshot.earlierVersions = earlierVersions()
      let bytes = try snapshot.bytes(.compressed)
      if let storeURL {
        let location = try StoreLocation(resolving: storeURL.path, files: files)
        try StoreVault(location, files: files).writeSnapshot(bytes)
      } else {
        if stores.isEmpty, let replaced { try keep(replaced, replacedBy: model) }
        try file.write(bytes)
      }
      return true
    } catch {
      throw MigrationAssistantError(wrapping: error, storePath: path)
    }
  }

  func belongs(to store: URL, history: ModelHistory) {
    users.withLock { users in
      if !users.stores.contains(store) { users.stores.append(store) }
      users.history = history
    }
  }

  /// `name` is `nil` for the current version, or for a model outside the history.
  func earlierVersions(than model: ManagedObjectModel, named name: String? = nil) -> [String] {
    if let history = users.withLock({ $0.history }),
      let name = name ?? (model == history.current ? history.currentName : nil)
    {
      return history.checksums(before: name, of: model)
    }
    guard let snapshot = try? snapshot(), snapshot.versionHashes == model.versionHashes() else { return [] }
    return snapshot.earlierVersions
  }

  package func replacedModel(withHashes hashes: [String: VersionHash]) -> ManagedObjectModel? {
    let file = replacedSnapshot(of: hashes)
    if let location {
      guard (try? StoreVault(location, files: files).checkOwner(of: file.path)) != nil else { return nil }
    }
    guard let bytes = try? file.read(),
      let model = try? ModelSnapshot(bytes: bytes).model, model.versionHashes() == hashes
    else { return nil }
    return model
  }

  /// The store of the snapshot was moved away, and may come back; a migrated store is kept with its
  /// model.
  func keepSnapshot(replacedBy model: ManagedObjectModel) throws {
    guard let replaced = try? SnapshotFile(path: snapshotURL.path, files: files).read(),
      let checksum = try? ModelSnapshot(bytes: replaced).model.versionChecksum()
    else { return }
    let versions = try location.map { try StoreVault($0, files: files).previousVersions() } ?? []
    if !versions.contains(where: { $0.manifest?.versionChecksum == checksum }) {
      try keep(replaced, replacedBy: model)
    }
  }

  private func keep(_ replaced: [UInt8], replacedBy model: ManagedObjectModel) throws {
    guard let hashes = try? ModelSnapshot(bytes: replaced).model.versionHashes(), hashes != model.versionHashes() else {
      return
    }
    try replacedSnapshot(of: hashes).write(replaced)
  }

  private func replacedSnapshot(of hashes: [String: VersionHash]) -> SnapshotFile {
    // A checksum is Base64, which may contain a slash.
    let checksum = String(ManagedObjectModel.versionChecksum(of: hashes).map { $0 == "/" ? "_" : $0 })
    return SnapshotFile(path: "\(snapshotURL.path)-\(checksum)", files: files)
  }

  private func check(_ storeURL: URL, has model: ManagedObjectModel) throws {
    do {
      let metadata = try readMetadata(of: storeURL)
      guard metadata.isCompatible(with: model) else {
        throw StoreError(path: storeURL.path, problem: .incompatible(entities: []))
      }
    } catch let error as StoreError {
      switch error.problem {
      case .missing: return
      case .incompatible: throw MigrationAssistantError.storeNotMigrated(storePath: storeURL.path)
      default: throw error
      }
    }
  }

  private func readMetadata(of url: URL) throws -> StoreMetadata {
    do throws(StoreError) {
      return try StoreMetadata(contentsOf: url)
    } catch  where error.problem == .needsRecovery {
      let location = try StoreLocation(resolving: url.path, files: files)
      try StoreVault(location, files: files).undoInterruptedChange()
      return try StoreMetadata(contentsOf: url)
    }
  }
}
