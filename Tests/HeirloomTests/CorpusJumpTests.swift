import Foundation
import Heirloom
import TestSupport
import Testing

/// Real stores on their apps' paths, each jump migrated once by either builder for all that is checked.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence), .slow("real stores, each migrated by both builders"))
struct CorpusJumpTests {
  @Test func `there are paths of every app that has several versions`() {
    #expect(CorpusPath.all.count >= 30)
    #expect(Set(CorpusPath.selected.map(\.project)) == Set(CorpusPath.all.map(\.project)))
    #expect(CorpusPath.selected.count { $0.hasOtherJoinNames } == 5)
  }

  @Test(arguments: zip(CorpusPath.selected.indices, CorpusPath.selected))
  func `a store reaches the next and the last version with all that it holds`(number: Int, path: CorpusPath) throws {
    let last = try CorpusRun(of: path.store, to: path.history(to: path.last))
    try check(last, 2 * number)
    if path.hasOtherJoinNames { try JoinTableMigrationTests.check(last) }
    var stepped = last.after
    if path.next < path.last {
      let next = try CorpusRun(of: path.store, to: path.history(to: path.next))
      try check(next, 2 * number + 1)
      // The other hops go on where the first one came to.
      let url = next.copies[0].url
      try DirectJumpTests.take(url, through: path.hops(from: path.next))
      stepped = try StoreContents(of: url, model: last.history.current)
    }
    #expect(try jumped(last, over: path.hops(from: path.start)) == stepped, last.name)
  }

  /// In a quick run, the checkers that migrate once more are for some of the jumps.
  private func check(_ run: CorpusRun, _ number: Int) throws {
    try run.check()
    if LongTests.areOn || number.isMultiple(of: 7) { try ConfigurationMigrationTests.check(run) }
    if LongTests.areOn || number.isMultiple(of: 13) { try DeferredMigrationTests.check(run) }
  }

  /// Returns the contents after a jump whose versions' order is known; if that changes nothing, the jump was made.
  private func jumped(_ run: CorpusRun, over versions: [ManagedObjectModel]) throws -> StoreContents {
    try Corpus.withCopy(of: run.store) { url in
      let assistant = DirectJumpTests.assistant(url, try DirectJumpTests.history(over: versions))
      if try assistant.plan()?.mapping == run.plan.mapping { return run.after }
      try assistant.migrate()
      return try StoreContents(of: url, model: run.history.current)
    }
  }

  /// Adds one entity, as any app's next version may, whose name sorts first and so renumbers all others.
  @Test(arguments: LongTests.selection(of: Corpus.storePaths, every: 8))
  func `a new entity that renumbers all others leaves every object and every table of others as it was`(
    path: String
  ) throws {
    // One store of 2010 has no copy of its model.
    guard let source = try Corpus.withCopy(of: path, { try StoreModelCache.model(inStoreAt: $0) }) else { return }
    let added = Make.entity("AAAdded", [AttributeDescription(name: "name", type: .string)])
    let destination = try ManagedObjectModel(entities: source.entities + [added])
    let run = try CorpusRun(of: path, to: ModelHistory(current: destination, earlier: [("before", source)]))
    try run.check()
    let url = run.copies[0].url
    #expect(run.plan.losses.isEmpty)
    #expect(run.before.objects.allSatisfy { run.after.objects[$0.key] == $0.value })
    let numbers = try OtherTables.entityNumbers(in: run.original.storeURL)
    let others = try OtherTables(of: run.original.storeURL, model: source)
      .migrated(by: run.plan.mapping, from: numbers, to: numbers.mapValues { $0 + 1 })
    #expect(try OtherTables(of: url, model: destination).differences(from: others) == [])
    #expect(try StoreModelCache.model(inStoreAt: url)?.versionHashes() == destination.versionHashes())
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

  /// Each migration loses what its plan says, as is checked of every jump.
  @Test(.slow("real stores, each migrated to the last version"), arguments: verdicts.indices)
  func `each store of one long history may reach its last version, losing what the models dropped`(
    index: Int
  ) throws {
    let (name, lost) = Self.verdicts[index]
    let path = try #require(CorpusPath.all.first { $0.store.hasSuffix("/store\(name).wiredatabase") })
    let history = path.history(to: path.last)
    #expect(history.currentName == "zmessaging2.101.0")
    let plan = try #require(try Corpus.withCopy(of: path.store) { try DirectJumpTests.assistant($0, history).plan() })
    #expect(Set(plan.losses.map { "\($0.entity).\($0.property ?? "")" }) == lost)
    for loss in plan.losses {
      #expect(Self.isDropped(loss.property ?? "", of: loss.entity, from: plan.source, to: history.current), "\(loss)")
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
}
