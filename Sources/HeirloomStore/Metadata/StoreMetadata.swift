public import Foundation
package import HeirloomFormats
public import HeirloomModel

/// What a store says about itself: its identifier and the version of the model it was made with.
public struct StoreMetadata: Hashable, Sendable {
  /// The store's identifier: a UUID in upper case, kept through all migrations.
  public var identifier: String
  /// The version hashes of the model's entities by name.
  public var versionHashes: [String: VersionHash]
  /// The model's version identifiers; for information only.
  public var versionIdentifiers: [String]
  /// The digest of names and hashes; old stores have none.
  public var versionHashesDigest: String?
  /// The digest of hashes; old stores have none.
  public var versionChecksum: String?
  /// The version of Core Data that wrote the store last; 0 if the store doesn't say.
  public var frameworkVersion: Int
  /// The generation that Heirloom gave the file when it wrote it; `nil` if Core Data or an app made it.
  public var generation: String?
  /// What a deferred migration of Heirloom's has left to be cleaned up, as the store lists it; `nil` if nothing is.
  public package(set) var deferredMigration: DeferredMigration?
  /// All other values: those of the app and those that Core Data doesn't change.
  package var otherValues: [String: PropertyListValue]

  /// The framework version whose layout Heirloom writes.
  public static let currentFrameworkVersion: Int = 1344

  /// Reads the metadata of a store without changing it.
  ///
  /// The store may be open elsewhere. SQLite may make its side files (`-wal`, `-shm`) if the store is in WAL mode.
  ///
  /// - Parameter url: The store's file.
  /// - Throws: ``StoreError`` that says what is there instead of a readable store.
  public init(contentsOf url: URL) throws(StoreError) {
    self = try StoreReading.withQuietConnection(toStoreAt: url.path) { connection throws(StoreError) in
      try StoreMetadata(connection: connection, path: url.path)
    }
  }

  /// Creates the metadata of a new store.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - configuration: The configuration whose entities the store holds; `nil` for all.
  ///   - identifier: The store's identifier.
  public init(model: ManagedObjectModel, configuration: String? = nil, identifier: String = UUID().uuidString) {
    self.identifier = identifier
    versionHashes = [:]
    versionIdentifiers = []
    frameworkVersion = 0
    otherValues = [
      PhysicalName.storeTypeKey: .string("SQLite"), PhysicalName.versionHashesVersionKey: .integer(3),
      PhysicalName.autoVacuumKey: .string("2"),
    ]
    adopt(model, configuration: configuration)
  }

  /// Takes over the version of a model; identifier and the app's values stay.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - configuration: The configuration whose entities the store holds; `nil` for all.
  public mutating func adopt(_ model: ManagedObjectModel, configuration: String? = nil) {
    versionHashes = Self.versionHashes(of: model, configuration: configuration)
    versionIdentifiers = model.versionIdentifiers
    versionHashesDigest = ManagedObjectModel.versionHashesDigest(of: versionHashes)
    versionChecksum = ManagedObjectModel.versionChecksum(of: versionHashes)
    frameworkVersion = Self.currentFrameworkVersion
  }

  // MARK: Comparing

  /// Whether the store was made with a version of the model that is stored alike.
  ///
  /// It is if both have the same entities with equal version hashes.
  ///
  /// - Parameters:
  ///   - model: A model.
  ///   - configuration: The configuration whose entities the store holds; `nil` for all.
  /// - Returns: False also for an unknown configuration.
  public func isCompatible(with model: ManagedObjectModel, configuration: String? = nil) -> Bool {
    guard let entities = model.entities(inConfiguration: configuration), entities.count == versionHashes.count,
      entities.allSatisfy({ versionHashes[$0.name] != nil })
    else { return false }
    return versionHashes == Self.versionHashes(of: model, configuration: configuration)
  }

  /// Returns the names of entities whose version hashes differ from a model's, or that only one of the two has, sorted.
  public func differingEntities(from model: ManagedObjectModel, configuration: String? = nil) -> [String] {
    let hashes = Self.versionHashes(of: model, configuration: configuration)
    return Set(hashes.keys).union(versionHashes.keys).filter { hashes[$0] != versionHashes[$0] }
      .sorted { $0.utf16Precedes($1) }
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
