public import Foundation
package import HeirloomFormats
import HeirloomMigration
public import HeirloomModel
import HeirloomStore
import HeirloomVault

/// A controller that keeps the last-used model, compressed, beside its store.
public struct ModelController: Sendable {
  /// The store beside which the model is kept; `nil` if the snapshot lies elsewhere.
  public let storeURL: URL?
  /// The snapshot's file.
  public let snapshotURL: URL

  private let files: any FileOperations
  /// The store's place; `nil` if the snapshot lies elsewhere, or the place can't be found.
  private let location: StoreLocation?

  /// Creates a controller that keeps the model in the store's companion folder, `<store>.heirloom/model.json.gz`.
  ///
  /// - Parameter storeURL: The store; it need not exist yet, its folder must.
  public init(storeURL: URL) {
    self.init(storeURL: storeURL, files: POSIXFileOperations())
  }

  /// Creates a controller that keeps the model in a file of the app's choice.
  ///
  /// It knows no store, so ``archive(_:applicationVersion:)`` can't refuse a model that its store does not have yet.
  ///
  /// - Parameter snapshotURL: The file; its folder must exist.
  public init(snapshotURL: URL) {
    self.init(snapshotURL: snapshotURL, files: POSIXFileOperations())
  }

  /// Creates a controller that keeps the model in a file of the caller's choice, on the caller's file system.
  package init(snapshotURL: URL, files: any FileOperations) {
    storeURL = nil
    self.snapshotURL = snapshotURL
    self.files = files
    location = nil
  }

  /// Creates a controller on the caller's file system.
  package init(storeURL: URL, files: any FileOperations) {
    self.storeURL = storeURL
    // Links beside the store are not followed.
    self.files = files.withoutLinks
    location = try? StoreLocation(resolving: storeURL.path, files: files)
    snapshotURL = URL(fileURLWithPath: location?.snapshot ?? storeURL.path + ".heirloom/model.json.gz")
  }

  /// Reads the snapshot.
  ///
  /// - Returns: `nil` when there is none.
  /// - Throws: `ModelReadingError` for a snapshot that can't be read, is damaged or holds hashes that are not its
  ///   model's.
  package func snapshot() throws -> ModelSnapshot? {
    if let location { try StoreVault(location, files: files).checkOwner(of: location.snapshot) }
    guard let bytes = try SnapshotFile(path: snapshotURL.path, files: files).read() else { return nil }
    do {
      return try ModelSnapshot(bytes: bytes)
    } catch {
      throw error.inFile(snapshotURL.path)
    }
  }

  /// Archives a model as the last-used one; does nothing when the snapshot already holds it.
  ///
  /// - Parameters:
  ///   - model: The model that the app uses now.
  ///   - applicationVersion: The app's version, for people.
  /// - Returns: True if the snapshot was written.
  /// - Throws: ``MigrationAssistantError/storeNotMigrated(storePath:)`` while the store beside it is of another
  ///   version, so that nobody can cover up a failed migration;
  ///   ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the file can't be written.
  @discardableResult
  public func archive(
    _ model: ManagedObjectModel, applicationVersion: String? = nil
  ) throws(MigrationAssistantError) -> Bool {
    let path = storeURL?.path ?? snapshotURL.path
    do {
      let file = SnapshotFile(path: snapshotURL.path, files: files)
      // A snapshot that can't be read is replaced: it is of no use to anybody.
      if let bytes = try? file.read(), ModelSnapshot.file(bytes, holds: model) { return false }
      try checkStore(has: model)
      let bytes = try ModelSnapshot(model: model, applicationVersion: applicationVersion).bytes(.compressed)
      if let storeURL {
        let location = try StoreLocation(resolving: storeURL.path, files: files)
        try StoreVault(location, files: files).writeSnapshot(bytes)
      } else {
        try file.write(bytes)
      }
      return true
    } catch {
      throw MigrationAssistantError(wrapping: error, storePath: path)
    }
  }

  private func checkStore(has model: ManagedObjectModel) throws {
    guard let storeURL else { return }
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
