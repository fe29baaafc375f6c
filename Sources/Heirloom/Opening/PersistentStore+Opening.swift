public import Foundation
import HeirloomFormats
import HeirloomMigration
public import HeirloomModel
public import HeirloomStore
import HeirloomVault

extension PersistentStore {
  /// Opens a store with an app's current model: creates it if there is none, migrates it if it is of another version.
  ///
  /// It does the work of an app's launch: ``MigrationAssistant/migrateStore()``, then
  /// ``ModelController/archive(_:applicationVersion:)``, and opens the store. The previous version of a migrated store
  /// is kept. On most launches the store only has to be opened.
  ///
  /// - Parameters:
  ///   - url: The store. Missing folders above it are created together with a new store.
  ///   - history: The app's models.
  ///   - options: The options for opening it.
  /// - Returns: The store.
  /// - Throws: Always ``MigrationAssistantError``. ``MigrationAssistantError/unreadableStore(_:)`` reports problems of
  ///   the store itself, such as `incompatible` for a store of another version if migration is off, or `missing` if
  ///   the options are read-only. ``MigrationAssistantError/coreDataCode`` is Core Data's code for it. The data are
  ///   where they were, and no change is left half done: the next call finds a whole store.
  public static func open(
    at url: URL, history: ModelHistory, options: PersistentStoreOptions = PersistentStoreOptions()
  ) throws(MigrationAssistantError) -> PersistentStore {
    do {
      return try StoreOpening(url: url, history: history, options: options, files: POSIXFileOperations()).store()
    } catch {
      throw MigrationAssistantError(wrapping: error, storePath: url.path)
    }
  }

  /// Opens a store with a model: creates it if there is none, migrates it if it is of another version.
  ///
  /// The model that made the store is found beside it or in it. An app that ships its earlier models should open it
  /// with its history.
  ///
  /// - Parameters:
  ///   - url: The store. Missing folders above it are created together with a new store.
  ///   - model: The model.
  ///   - options: The options for opening it.
  /// - Returns: The store.
  /// - Throws: ``MigrationAssistantError``, as ``open(at:history:options:)``.
  public static func open(
    at url: URL, model: ManagedObjectModel, options: PersistentStoreOptions
  ) throws(MigrationAssistantError) -> PersistentStore {
    try open(at: url, history: ModelHistory(current: model), options: options)
  }
}

package final class StoreOpening {
  private let url: URL
  private let history: ModelHistory
  private let options: PersistentStoreOptions
  private let files: any FileOperations

  package init(url: URL, history: ModelHistory, options: PersistentStoreOptions, files: any FileOperations) {
    self.url = url
    self.history = history
    self.options = options
    self.files = files
  }

  private var model: ManagedObjectModel { history.current }

  package func store() throws -> PersistentStore {
    guard !options.isReadOnly else {
      return try PersistentStore.open(
        at: url, model: model, configuration: options.configuration, isReadOnly: true)
    }
    if let configuration = options.configuration, model.entities(inConfiguration: configuration) == nil {
      throw StoreError(path: url.path, problem: .unknownConfiguration(configuration))
    }
    if try isMissing() { try FolderMaker(files: files).makeFolders(url.deletingLastPathComponent().path) }
    let assistant = MigrationAssistant(
      storeURL: url, modelController: controller, history: history, configuration: options.migration, files: files)
    assistant.delegate = options.delegate
    assistant.stagedManager = options.stagedManager
    guard options.migratesAutomatically, try !holdsCurrentPart() else {
      if try isMissing() { try create() }
      return try open(assistant)
    }
    let outcome = try assistant.migrateStore()
    switch outcome {
    case .noStore, .setAside:
      try assistant.modelController.keepSnapshot(replacedBy: model)
      try create()
    case .upToDate, .migrated: break
    }
    try assistant.modelController.archive(model, applicationVersion: options.applicationVersion)
    return try open(assistant)
  }

  private var controller: ModelController { options.modelController ?? ModelController(storeURL: url, files: files) }

  /// Changes outside the requested configuration don't affect this store.
  private func holdsCurrentPart() throws -> Bool {
    guard let configuration = options.configuration, try !isMissing(),
      try !StoreVault.hasUnfinishedOperation(at: StoreLocation(resolving: url.path, files: files), files: files)
    else { return false }
    return (try? StoreMetadata(contentsOf: url))?.isCompatible(with: model, configuration: configuration) == true
  }

  private func isMissing() throws -> Bool { try files.status(of: url.path) == nil }

  private func open(_ assistant: MigrationAssistant) throws -> PersistentStore {
    // The assistant may not have inspected the store. SQLite would roll an interrupted change back before the store is
    // kept, and drop a log that it can't read.
    try withExtendedLifetime(assistant) {
      let vault = try assistant.vault()
      try vault.undoInterruptedChange()
      try vault.secureLog()
    }
    let store = try PersistentStore.open(at: url, model: model, configuration: options.configuration)
    // SQLite opens a file without write permission for reading, and would report that only at the first change.
    guard !store.connection.isReadOnly else { throw StoreError(path: url.path, problem: .readOnly) }
    return store
  }

  private func create() throws {
    var settings = VaultConfiguration()
    settings.lockTimeout = options.migration.lockTimeout
    settings.allowUnsafeVolume = options.migration.allowsUnsafeVolume
    let vault = StoreVault(
      try StoreLocation(resolving: url.path, files: files), files: files, configuration: settings)
    _ = try vault.createStore { path in
      try PersistentStore.create(
        at: URL(fileURLWithPath: path), model: model, configuration: options.configuration
      ).close()
    }
  }
}
