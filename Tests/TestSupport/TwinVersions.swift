package import Foundation
import HeirloomFormats
package import HeirloomModel
import HeirloomStore
import Testing

/// Two versions with equal hashes, whose renaming identifiers lead to opposite values in the third.
///
/// "1" says that `a` becomes `first` and `b` becomes `second`; "2" says the contrary. Only the store and its
/// surroundings can tell which of them made the store.
package enum TwinVersions {
  package enum Version: String, Sendable, CaseIterable {
    case one = "1"
    case two = "2"
  }

  package struct Evidence: Sendable, CustomTestStringConvertible {
    /// In the metadata.
    package var identifiers: [String] = []
    /// The version whose model the store holds.
    package var cache: Version?
    /// The cached model has class names as Core Data archives them, which no model file has.
    package var isForeignCache = false
    /// The version whose snapshot is beside the store.
    package var snapshot: Version?
    package var given: Version?
    package let expected: Version
    package var isDoubtful = false

    package init(
      _ expected: Version, identifiers: [String] = [], cache: Version? = nil, isForeignCache: Bool = false,
      snapshot: Version? = nil, given: Version? = nil, isDoubtful: Bool = false
    ) {
      (self.expected, self.identifiers, self.cache, self.isForeignCache) = (
        expected, identifiers, cache, isForeignCache
      )
      (self.snapshot, self.given, self.isDoubtful) = (snapshot, given, isDoubtful)
    }

    package var testDescription: String {
      "identifiers \(identifiers), cache \(cache?.rawValue ?? "–")\(isForeignCache ? "*" : ""), snapshot"
        + " \(snapshot?.rawValue ?? "–"), given \(given?.rawValue ?? "–")"
    }
  }

  /// Each piece of evidence, against all that come after it.
  package static let evidence: [Evidence] = [
    Evidence(.one, identifiers: ["1"], cache: .two, snapshot: .two),
    Evidence(.two, identifiers: ["2"], cache: .one, snapshot: .one),
    Evidence(.one, identifiers: [""], cache: .one, snapshot: .two),
    Evidence(.two, identifiers: [], cache: .two, snapshot: .one),
    Evidence(.one, identifiers: ["of neither"], cache: .one),
    Evidence(.one, identifiers: ["1", "more"], cache: .one, snapshot: .two),
    Evidence(.one, cache: .one, isForeignCache: true, snapshot: .two),
    Evidence(.two, cache: .two, isForeignCache: true),
    Evidence(.one, snapshot: .one),
    Evidence(.two, snapshot: .two),
    Evidence(.one, identifiers: ["2"], cache: .two, snapshot: .two, given: .one),
    Evidence(.two, identifiers: ["1"], cache: .one, snapshot: .one, given: .two),
    Evidence(.one, given: .one),
    // Without evidence, the nearest earlier one.
    Evidence(.two, isDoubtful: true),
  ]

  package static func model(_ version: Version) throws -> ManagedObjectModel {
    try model([("a", version == .one ? "p" : "q"), ("b", version == .one ? "q" : "p")], version.rawValue)
  }

  package static func current() throws -> ManagedObjectModel { try model([("first", "p"), ("second", "q")], "3") }

  private static func model(_ attributes: [(String, String)], _ identifier: String) throws -> ManagedObjectModel {
    var item = EntityDescription(name: "Item")
    item.managedObjectClassName = ".Item"
    item.attributes = attributes.map { name, identifier in
      return Make.attribute(name, id: identifier)
    }
    return try ManagedObjectModel(entities: [item], versionIdentifiers: [identifier])
  }

  /// Its one object has "A" in `a` and "B" in `b`.
  package static func makeStore(at url: URL, _ evidence: Evidence) throws {
    let store = try PersistentStore.create(at: url, model: model(.one))
    let context = ManagedObjectContext(store: store)
    let item = try context.insert("Item")
    try item.setValue(.string("A"), forAttribute: "a")
    try item.setValue(.string("B"), forAttribute: "b")
    try context.save()
    var metadata = try StoreMetadata(connection: store.connection, path: url.path)
    metadata.versionIdentifiers = evidence.identifiers
    try metadata.write(to: store.connection)
    try store.connection.execute("DELETE FROM Z_MODELCACHE")
    if let version = evidence.cache {
      var model = try model(version)
      if evidence.isForeignCache {
        var item = model.entities[0]
        item.managedObjectClassName = "App.Item"
        model = try ManagedObjectModel(entities: [item], versionIdentifiers: model.versionIdentifiers)
      }
      try StoreModelCache.write(model, to: store.connection)
    }
    try store.close()
    guard let version = evidence.snapshot else { return }
    let folder = URL(fileURLWithPath: url.path + ".heirloom")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try ModelSnapshot(model: model(version)).encoded(.compressed).write(
      to: folder.appendingPathComponent("model.json.gz"))
  }

  package static func values(in url: URL) throws -> [String] {
    let store = try PersistentStore.open(at: url, model: current())
    defer { try? store.close() }
    return try store.connection.rows("SELECT ZFIRST, ZSECOND FROM ZITEM").flatMap { $0.map { $0.text ?? "" } }
  }

  package static func expected(_ version: Version) -> [String] { version == .one ? ["A", "B"] : ["B", "A"] }
}
