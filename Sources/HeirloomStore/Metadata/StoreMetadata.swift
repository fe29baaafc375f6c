public import Foundation
package import HeirloomFormats
public import HeirloomModel

/// A store's metadata: its identifier and the version of the model it was made with.
public struct StoreMetadata: Hashable, Sendable {
  /// The store's identifier: a UUID in upper case, kept through all migrations.
  public var identifier: String
  /// The version hashes of the model's entities by name.
  public var versionHashes: [String: VersionHash]
  /// The model's version identifiers, which distinguish versions with equal hashes.
  public var versionIdentifiers: [String]
  /// The digest of names and hashes; old stores have none.
  public var versionHashesDigest: String?
  /// The digest of hashes; old stores have none.
  public var versionChecksum: String?
  /// The version of Core Data that wrote the store last; 0 if it is unknown.
  public var frameworkVersion: Int
  /// The generation that Heirloom gave the file when it wrote it; `nil` if another program made it.
  public var generation: String?
  /// The clean-up that a deferred migration by Heirloom left, as the store lists it; `nil` if there is none.
  public package(set) var deferredMigration: DeferredMigration?
  /// Those of the app, and those that Core Data doesn't change.
  package var otherValues: [String: PropertyListValue]

  /// The framework version whose layout Heirloom writes.
  public static let currentFrameworkVersion: Int = 1344

  /// Reads the metadata of a store without changing it.
  ///
  /// The store may be open elsewhere. SQLite may create its side files (`-wal`, `-shm`) if the store is in WAL mode.
  ///
  /// - Parameter url: The store's file.
  /// - Throws: ``StoreError`` with what was found instead of a readable store.
  public init(contentsOf url: URL) throws(StoreError) {
    self = try StoreReading.withQuietConnection(toStoreAt: url.path) { connection throws(StoreError) in
      try StoreMetadata(connection: connection, path: url.path)
    }
  }

  /// Creates the metadata of a new store.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - identifier: The store's identifier.
  public init(model: ManagedObjectModel, identifier: String = UUID().uuidString) {
    self.identifier = identifier
    versionHashes = [:]
    versionIdentifiers = []
    frameworkVersion = 0
    otherValues = [
      PhysicalName.storeTypeKey: .string("SQLite"), PhysicalName.versionHashesVersionKey: .integer(3),
      PhysicalName.autoVacuumKey: .string("2"),
    ]
    adopt(model)
  }

  /// Sets the version to that of a model; the identifier and the app's values stay.
  ///
  /// A store of a configuration names all entities of its model, as Core Data's do.
  ///
  /// - Parameter model: The model.
  public mutating func adopt(_ model: ManagedObjectModel) {
    versionHashes = model.versionHashes()
    versionIdentifiers = model.versionIdentifiers
    versionHashesDigest = ManagedObjectModel.versionHashesDigest(of: versionHashes)
    versionChecksum = ManagedObjectModel.versionChecksum(of: versionHashes)
    frameworkVersion = Self.currentFrameworkVersion
  }

  package static func newGeneration() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }.hexadecimal
  }

  /// Returns true if the store was made with a model that has the same version hashes.
  ///
  /// Both must have the same entities. For a store of a configuration, only its entities are compared: the metadata
  /// also name those of the other configurations, which may have changed.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - configuration: The configuration whose entities the store holds; `nil` for all.
  /// - Returns: False also for an unknown configuration.
  public func isCompatible(with model: ManagedObjectModel, configuration: String? = nil) -> Bool {
    guard model.entities(inConfiguration: configuration) != nil else { return false }
    return differingEntities(from: model, configuration: configuration).isEmpty
  }

  /// Neither side may have entities that the other lacks; false for an unknown configuration.
  package func names(_ model: ManagedObjectModel, configuration: String? = nil) -> Bool {
    isCompatible(with: model, configuration: configuration)
      && versionHashes.count == model.entities(inConfiguration: configuration)?.count
  }

  /// Returns the names of entities whose version hashes differ from a model's, or that only one of the two has, sorted.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - configuration: The configuration whose entities count; `nil` for all.
  /// - Returns: The names.
  public func differingEntities(from model: ManagedObjectModel, configuration: String? = nil) -> [String] {
    let hashes = Self.versionHashes(of: model, configuration: configuration)
    let names = configuration == nil ? Set(hashes.keys).union(versionHashes.keys) : Set(hashes.keys)
    return names.filter { hashes[$0] != versionHashes[$0] }.ordered()
  }

  private static func versionHashes(
    of model: ManagedObjectModel, configuration: String?
  ) -> [String: VersionHash] {
    let hashes = model.versionHashes()
    guard configuration != nil else { return hashes }
    let names = Set((model.entities(inConfiguration: configuration) ?? []).map(\.name))
    return hashes.filter { names.contains($0.key) }
  }
}

extension StoreMetadata {
  /// True while the clean-up of a deferred lightweight migration, Heirloom's or Core Data's own, is unfinished.
  public var hasDeferredMigration: Bool { deferredMigration != nil || DeferredMigration.isNoted(in: otherValues) }
}
