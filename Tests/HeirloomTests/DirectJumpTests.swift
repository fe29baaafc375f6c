import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// A jump over several versions, compared with the same path taken hop by hop.
struct DirectJumpTests {
  /// Versions of a model in their order.
  struct Path: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let versions: [[EntityDescription]]

    init(_ name: String, _ versions: [EntityDescription]...) {
      testDescription = name
      self.versions = versions
    }
  }

  private static func attribute(
    _ name: String, _ type: AttributeType = .integer64, id: String? = nil, optional: Bool = true,
    value: AttributeValue? = nil
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = optional
    attribute.renamingIdentifier = id
    attribute.defaultValue = value
    return attribute
  }

  private static func entity(
    _ name: String, _ attributes: [AttributeDescription], _ relationships: [RelationshipDescription] = [],
    id: String? = nil
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.attributes = attributes
    entity.relationships = relationships
    entity.renamingIdentifier = id
    return entity
  }

  private static func link(
    _ name: String, to entity: String, many: Bool = false, inverse: String? = nil, id: String? = nil
  ) -> RelationshipDescription {
    var link = RelationshipDescription(name: name, destinationEntity: entity)
    link.isOptional = true
    link.maxCount = many ? 0 : 1
    link.inverseRelationship = inverse
    link.renamingIdentifier = id
    return link
  }

  static let paths: [Path] = [
    Path(
      "renamed, and the identifier left out afterwards", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("y"), attribute("z")])]),
    Path(
      "renamed twice with the first identifier", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("z", id: "x")])]),
    Path(
      "renamed twice, each time from the previous name", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("z", id: "y")])]),
    Path(
      "removed and added again", [entity("A", [attribute("x"), attribute("y")])], [entity("A", [attribute("y")])],
      [entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
    Path(
      "renamed, then another takes the name", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("x", id: "new"), attribute("y", id: "x")])],
      [entity("A", [attribute("x", id: "new"), attribute("y", id: "x"), attribute("z")])]),
    Path(
      "renamed, then another takes the name without identifiers", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("y")])],
      [entity("A", [attribute("x", .string), attribute("y")])]),
    Path(
      "another default by the time of the last version", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(1))])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "a default that came after the attribute", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x"), attribute("y")])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "filled on the way, and optional again", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x", optional: false, value: .integer(7))])],
      [entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a required attribute filled on the way and widened", [entity("A", [attribute("x", .integer16)])],
      [entity("A", [attribute("x", .integer32, optional: false, value: .integer(7))])],
      [entity("A", [attribute("x", .double, optional: false, value: .double(0.5))])]),
    Path(
      "entity removed and added again", [entity("A", [attribute("x")]), entity("B", [attribute("x")])],
      [entity("B", [attribute("x")])], [entity("A", [attribute("x")]), entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "entity renamed, and the identifier left out afterwards", [entity("A", [attribute("x")])],
      [entity("B", [attribute("x")], id: "A")], [entity("B", [attribute("x"), attribute("y")])]),
    Path(
      "relationship renamed, and the identifiers left out afterwards",
      [
        entity("A", [], [link("b", to: "B", inverse: "as")]),
        entity("B", [], [link("as", to: "A", many: true, inverse: "b")]),
      ],
      [
        entity("A", [], [link("c", to: "B", inverse: "all", id: "b")]),
        entity("B", [], [link("all", to: "A", many: true, inverse: "c", id: "as")]),
      ],
      [
        entity("A", [attribute("x")], [link("c", to: "B", inverse: "all")]),
        entity("B", [], [link("all", to: "A", many: true, inverse: "c")]),
      ]),
    Path(
      "relationship removed and added again",
      [entity("A", [attribute("x")], [link("b", to: "B")]), entity("B", [attribute("x")])],
      [entity("A", [attribute("x")]), entity("B", [attribute("x")])],
      [entity("A", [attribute("x")], [link("b", to: "B")]), entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "a fraction cut off on the way", [entity("A", [attribute("x", .double)])],
      [entity("A", [attribute("x", .integer64)])], [entity("A", [attribute("x", .double), attribute("z")])]),
    Path(
      "true or false on the way, and filled",
      [entity("A", [attribute("x", .integer16)])],
      [entity("A", [attribute("x", .boolean, optional: false, value: .boolean(true))])],
      [entity("A", [attribute("x", .integer32)])], [entity("A", [attribute("x", .double)])]),
    Path(
      "digits cut off on the way", [entity("A", [attribute("x")])], [entity("A", [attribute("x", .double)])],
      [entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a default that was cut", [entity("A", [attribute("y")])],
      [entity("A", [attribute("x", .double, value: .double(2.5)), attribute("y")])],
      [entity("A", [attribute("x", .integer32), attribute("y")])],
      [entity("A", [attribute("x", .double), attribute("y")])]),
    Path(
      "transient on the way", [entity("A", [attribute("x"), attribute("y")])],
      [entity("A", [attribute("x").transient, attribute("y")])],
      [entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
  ]

  @Test(arguments: paths)
  func `a jump over several versions comes to what the steps come to`(path: Path) throws {
    let versions = try path.versions.map { try ManagedObjectModel(entities: $0) }
    let directory = try TemporaryDirectory()
    let (stepped, jumped) = (directory.file("Stepped.sqlite"), directory.file("Jumped.sqlite"))
    var generator = StoreGenerator(objectsPerEntity: 20, seed: 3)
    try generator.makeStore(at: stepped, model: versions[0])
    try FileManager.default.copyItem(at: stepped, to: jumped)
    try Self.take(stepped, through: versions)
    try Self.jump(jumped, over: versions)
    let last = try #require(versions.last)
    let (expected, found) = (try StoreContents(of: stepped, model: last), try StoreContents(of: jumped, model: last))
    #expect(found == expected)
    withExtendedLifetime(directory) {}
  }

  /// Migrates a store from version to version.
  fileprivate static func take(_ store: URL, through versions: [ManagedObjectModel]) throws {
    for (before, after) in zip(versions, versions.dropFirst()) where before.versionHashes() != after.versionHashes() {
      // Each hop knows only the version before, as the app of that time did.
      try migrate(store, ModelHistory(current: after, earlier: [("before", before)]))
    }
  }

  /// Migrates a store to the last of the versions at once.
  fileprivate static func jump(_ store: URL, over versions: [ManagedObjectModel]) throws {
    guard let last = versions.last else { return }
    let earlier = versions.dropLast().enumerated().map { ("v\($0.offset)", $0.element) }
    try migrate(store, ModelHistory(current: last, earlier: earlier.map { (name: $0.0, model: $0.1) }))
  }

  private static func migrate(_ store: URL, _ history: ModelHistory) throws {
    // The snapshot of the first version is not written: the history knows each version.
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store), history: history,
      configuration: .withBothProofs)
    guard case .migrated = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
  }
}

/// Jumps of real stores over the versions that their apps shipped.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusJumpTests {
  private static let isLong = LongTests.areOn
  private static let bundles = Set(
    Corpus.modelPaths.filter { $0.contains(".xcdatamodeld/") && !$0.contains("@") }.map {
      ($0 as NSString).deletingLastPathComponent
    }
  ).sorted()

  @Test(arguments: bundles)
  func `a jump to the last version comes to what the steps come to`(bundle: String) throws {
    let project = bundle.prefix { $0 != "/" }
    let paths = Corpus.storePaths.filter { $0.hasPrefix(project + "/") }
    for (index, path) in paths.enumerated() where Self.isLong || index.isMultiple(of: 3) {
      let stored = try Corpus.withCopy(of: path) { try StoreMetadata(contentsOf: $0).versionHashes }
      let versions = try Corpus.versions(of: bundle)
      guard let start = versions.lastIndex(where: { $0.hashes == stored }), start < versions.count - 1 else { continue }
      try compare(path, over: Self.chosen(versions[start...].map(\.model)))
    }
  }

  /// Returns all versions, or a few of them: reading and migrating each is slow.
  private static func chosen(_ versions: [ManagedObjectModel]) -> [ManagedObjectModel] {
    guard !LongTests.areOn, versions.count > 4 else { return versions }
    let last = versions.count - 1
    return [0, last / 3, 2 * last / 3, last].map { versions[$0] }
  }

  private func compare(_ path: String, over versions: [ManagedObjectModel]) throws {
    guard let last = versions.last else { return }
    let stepped = try contents(of: path, last) { try DirectJumpTests.take($0, through: versions) }
    let jumped = try contents(of: path, last) { try DirectJumpTests.jump($0, over: versions) }
    switch (stepped, jumped) {
    case (.success(let expected), .success(let found)): #expect(found == expected, "\(path)")
    // Every history of the corpus can be gone either way; one that can't has to be looked at.
    case (.failure(let error), .success): Issue.record("\(path): the steps stop, the jump doesn't: \(error)")
    case (.success, .failure(let error)): Issue.record("\(path): the steps do, the jump doesn't: \(error)")
    case (.failure(let error), .failure(let other)): Issue.record("\(path): neither: \(error) / \(other)")
    }
  }

  private static let pictures: Set = [
    "User.imageMediumData", "User.imageSmallProfileData", "User.localMediumRemoteIdentifier_data",
    "User.localSmallProfileRemoteIdentifier_data", "User.mediumRemoteIdentifier_data",
    "User.smallProfileRemoteIdentifier_data",
  ]
  private static let flags: Set = ["Conversation.isSilenced", "Message.isEncrypted", "Message.isPlainText"]
  private static let orders: Set = [
    "Conversation.allMessages", "Conversation.otherActiveParticipants", "User.activeConversations",
  ]
  private static let fields: Set = Set(
    ["Connection", "Conversation", "Message", "User", "UserClient"].map { $0 + ".modifiedDataFields" })
  private static let drafts: Set = ["Conversation.draftMessageText"]
  private static let calls: Set = ["Conversation.callStateNeedsToBeUpdatedFromBackend"]
  private static let events: Set = [
    "Conversation.archivedEventID_data", "Conversation.clearedEventID_data", "Conversation.downloadedMessageIDs_data",
    "Conversation.lastEventID_data", "Conversation.lastReadEventID_data", "Message.eventID_data", "Message.temporary",
    "ImageMessage.mediumDataNeedsToBeUploaded", "ImageMessage.previewDataNeedsToBeUploaded",
    "Conversation.otherInactiveParticipants", "User.inactiveConversations",
  ]

  /// The losses of each store of one app on the path to the last version; the app's own models dropped all of them.
  static let verdicts: [(store: String, lost: Set<String>)] = [
    ("1-25", pictures.union(flags).union(orders).union(fields).union(drafts).union(calls).union(events)),
    (
      "2-3",
      pictures.subtracting([
        "User.imageMediumData", "User.imageSmallProfileData", "User.localMediumRemoteIdentifier_data",
      ])
      .union(flags).union(orders).union(fields).union(drafts).union(calls).union(["Conversation.lastEventID_data"])
    ),
    ("2-21-1", pictures.union(flags).union(orders).union(drafts).union(calls)),
    ("2-24-1", pictures.union(flags).union(orders).union(drafts).union(calls)),
    ("2-30-0", pictures.union(flags).union(orders).union(drafts).union(calls)),
    ("2-31-0", pictures.union(flags).union(orders).union(drafts)),
    ("2-53-0", pictures.union(["Conversation.allMessages"])), ("2-66-0", pictures), ("2-67-0", pictures),
    ("2-68-0", []), ("2-79-0", []), ("2-80-0", []), ("2-82-0", []), ("2-88-0", []), ("2-95-0", []), ("2-96-0", []),
    ("2-100-0", []),
  ]

  @Test(arguments: verdicts.indices)
  func `each store of one long history reaches its last version, losing what the models dropped`(index: Int) throws {
    let (name, lost) = Self.verdicts[index]
    let versions = try Corpus.versions(of: "wire-ios-data-model/models/zmessaging.xcdatamodeld")
    let last = try #require(versions.first { $0.name == "zmessaging2.101.0" })
    try Corpus.withCopy(of: "wire-ios-data-model/stores/store\(name).wiredatabase") { store in
      // The oldest store is of a model from before the history; its own copy of the model is used.
      let stored = try StoreMetadata(contentsOf: store).versionHashes
      let source = try #require(
        try versions.last { $0.hashes == stored }?.model ?? StoreModelCache.model(inStoreAt: store))
      let assistant = MigrationAssistant(
        storeURL: store, modelController: ModelController(storeURL: store),
        history: ModelHistory(current: last.model, earlier: [(name, source)]),
        configuration: .withBothProofs)
      guard case .migrated(let report) = try assistant.migrateStore() else {
        Issue.record("expected a migration")
        return
      }
      #expect(Set(report.plan.losses.map { "\($0.entity).\($0.property ?? "")" }) == lost)
      for loss in report.plan.losses {
        #expect(Self.isDropped(loss.property ?? "", of: loss.entity, from: source, to: last.model), "\(loss)")
      }
    }
  }

  /// Returns true if a model has no place for a property: none of its identifier, or one without storage or order.
  private static func isDropped(
    _ name: String, of entity: String, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> Bool {
    // An order is lost under the destination's name.
    if let new = destination.relationship(named: name, of: entity), !new.isOrdered, new.isToMany {
      let old = source.relationships(of: entity).first { $0.canonicalIdentifier == new.canonicalIdentifier }
      return old?.isOrdered ?? false
    }
    let identifiers = [
      source.attribute(named: name, of: entity)?.canonicalIdentifier,
      source.relationship(named: name, of: entity)?.canonicalIdentifier,
    ].compactMap { $0 }
    guard let identifier = identifiers.first else { return false }
    return !destination.attributes(of: entity).contains { $0.canonicalIdentifier == identifier && !$0.isTransient }
      && !destination.relationships(of: entity).contains { $0.canonicalIdentifier == identifier && !$0.isTransient }
  }

  private func contents(
    of path: String, _ model: ManagedObjectModel, after body: (URL) throws -> Void
  ) throws -> Result<StoreContents, MigrationAssistantError> {
    try Corpus.withCopy(of: path) { store in
      do {
        try body(store)
        return .success(try StoreContents(of: store, model: model))
      } catch let error as MigrationAssistantError {
        return .failure(error)
      }
    }
  }
}

extension AttributeDescription {
  /// The attribute, changed to be transient.
  fileprivate var transient: AttributeDescription {
    var attribute = self
    attribute.isTransient = true
    return attribute
  }
}
