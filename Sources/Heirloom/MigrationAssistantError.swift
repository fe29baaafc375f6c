public import Foundation
public import HeirloomMapping
public import HeirloomMigration
public import HeirloomStore

/// Why a store was not migrated, or not opened.
///
/// Whatever the case, the data are where they were. What is wrong with the store itself is
/// ``unreadableStore(_:)``: that it is of another version too, where it must not be migrated.
@nonexhaustive
public enum MigrationAssistantError: Error, Sendable {
  /// The store can't be read.
  case unreadableStore(StoreError)
  /// No model fits the store: not the snapshot, not the history, not its own cache.
  case noModel(storePath: String, nearest: [NearVersion])
  /// The store is of a version that is not known and would lose something; it may come from a newer app.
  case unknownVersion(storePath: String, plan: MigrationPlan)
  /// The store is of a version that comes after the current one, as an app finds it that was taken back to an earlier release.
  ///
  /// Nothing was written. ``NewerStore/retainedVersion`` is what to go back to, by ``MigrationAssistant/restorePreviousVersion(_:)``.
  case newerVersion(NewerStore)
  /// The models differ by more than can be inferred, and nobody gave a mapping; without obstacles, inference is switched off.
  ///
  /// The skeleton is Swift source to start a mapping from, if there is something to fill in.
  case mappingNeeded(storePath: String, obstacles: [MappingObstacle], skeleton: MappingSkeleton?)
  /// Rows don't fit the destination and somebody must decide.
  case decisionNeeded(storePath: String, plan: MigrationPlan)
  /// The delegate refused the plan.
  case refused(storePath: String, plan: MigrationPlan)
  /// The snapshot is not archived while the store beside it is of another version.
  case storeNotMigrated(storePath: String)
  /// Another process holds the store or is migrating it.
  case storeInUse(storePath: String, reason: String)
  /// The place is not fit: permissions, space, links, the kind of volume.
  case unfitLocation(storePath: String, reason: String, coreDataCode: Int)
  /// The volume has too little room; the figures were known before anything was begun.
  case notEnoughSpace(SpaceShortage)
  /// The migration was made and may not outlast a loss of power; run again to find out.
  case outcomeUnknown(storePath: String, reason: String)
  /// Building or proving failed.
  case failed(storePath: String, MigrationError)
  /// Nothing retained has such a name, or it can't be read.
  case noSuchVersion(storePath: String, reason: String)
}

extension MigrationAssistantError {
  /// A stable name of the case, for logs and programs.
  public var code: String {
    switch self {
    case .unreadableStore: "unreadableStore"
    case .noModel: "noModel"
    case .unknownVersion: "unknownVersion"
    case .newerVersion: "newerVersion"
    case .mappingNeeded: "mappingNeeded"
    case .decisionNeeded: "decisionNeeded"
    case .refused: "refused"
    case .storeNotMigrated: "storeNotMigrated"
    case .storeInUse: "storeInUse"
    case .unfitLocation: "unfitLocation"
    case .notEnoughSpace: "notEnoughSpace"
    case .outcomeUnknown: "outcomeUnknown"
    case .failed(_, .cancelled): "cancelled"
    case .failed(_, .unfitDecision): "unfitDecision"
    case .failed: "failed"
    case .noSuchVersion: "noSuchVersion"
    }
  }

  /// The code of the same error in Core Data's domain, or `nil` if there is none.
  public var coreDataCode: Int? {
    switch self {
    case .unreadableStore(let error): error.coreDataCode
    case .noModel: 134130
    case .unknownVersion, .newerVersion, .storeNotMigrated: 134100
    case .mappingNeeded(_, let obstacles, _): obstacles.isEmpty ? 134140 : 134190
    case .decisionNeeded(_, let plan): plan.blockers.contains { $0.kind == "duplicate" } ? 134111 : 134110
    case .refused: 134120
    case .storeInUse: 134090
    case .unfitLocation(_, _, let code): code
    case .notEnoughSpace: 640
    case .outcomeUnknown: 134110
    case .failed(_, let error): error.coreDataCode
    case .noSuchVersion: nil
    }
  }

  /// The file that still holds the data.
  public var storePath: String {
    switch self {
    case .unreadableStore(let error): error.path
    case .newerVersion(let store): store.storePath
    case .notEnoughSpace(let shortage): shortage.storePath
    case .noModel(let path, _), .unknownVersion(let path, _),
      .mappingNeeded(let path, _, _), .decisionNeeded(let path, _), .refused(let path, _), .storeNotMigrated(let path),
      .storeInUse(let path, _), .unfitLocation(let path, _, _), .outcomeUnknown(let path, _), .failed(let path, _),
      .noSuchVersion(let path, _):
      path
    }
  }
}

extension MigrationAssistantError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  public var description: String {
    switch self {
    case .unreadableStore(let error):
      return error.description
    case .noModel(let path, let nearest):
      let near = nearest.first.map { version in
        " The nearest known version is \"\(version.name)\", with \(version.differingEntities.count) entities that differ"
          + " (\(Self.list(version.differingEntities)))."
      }
      return
        "No known model made the store \(path): its version hashes fit neither the snapshot beside it, nor a version"
        + " of the history, nor a model of its own.\(near ?? "")"
    case .unknownVersion(let path, let plan):
      return "The store \(path) is of a version that is not in the history and would lose something: "
        + Self.list(plan.losses.map { "\($0.rows) × \($0.entity)\($0.property.map { ".\($0)" } ?? "")" })
        + "; it may come from a newer app."
    case .newerVersion(let store):
      let version = store.versionName.map { "the version \"\($0)\"" } ?? "a version that is not in the history"
      return "The store \(store.storePath) is of \(version), which comes after the current one; nothing was written."
    case .mappingNeeded(let path, [], _):
      return "No mapping model was given for the store \(path), and none may be inferred."
    case .mappingNeeded(let path, let obstacles, _):
      return "No mapping can be inferred for the store \(path): "
        + obstacles.map(\.reason).joined(separator: "; ") + "."
    case .decisionNeeded(let path, let plan):
      return "Rows of the store \(path) don't fit the new model: "
        + plan.blockers.map { "\($0.rows) × \($0.reason)" }.joined(separator: "; ")
        + " Choices: \(Self.choices(plan.blockers))."
    case .refused(let path, _):
      return "The migration of the store \(path) was refused."
    case .storeNotMigrated(let path):
      return "The model was not archived, since the store \(path) is of another version; migrate it first."
    case .storeInUse(let path, let reason):
      return "The store \(path) is in use elsewhere: \(reason)."
    case .unfitLocation(_, let reason, _):
      return Self.sentence(reason)
    case .notEnoughSpace(let shortage):
      return Self.sentence(shortage.description)
    case .outcomeUnknown(let path, let reason):
      return "The migrated store \(path) is in place but may not outlast a loss of power: \(reason)."
    case .failed(_, let error):
      return error.description
    case .noSuchVersion(_, let reason):
      return Self.sentence(reason)
    }
  }

  /// The choices that blockers offer.
  private static func choices(_ blockers: [MigrationBlocker]) -> String {
    list(
      blockers.map { blocker in
        "\(blocker.entity)\(blocker.property.map { ".\($0)" } ?? "")="
          + blocker.choices.map(\.rawValue).joined(separator: "|")
      })
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }
}

extension MigrationAssistantError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// Which file still holds the data, and what to do.
  public var recoverySuggestion: String? {
    let unchanged = "\(storePath) still holds all data and was not changed."
    switch self {
    case .unreadableStore(let error):
      return error.recoverySuggestion
    case .noModel:
      return unchanged + " Give the model that made it, from the app's earlier releases."
    case .unknownVersion:
      return unchanged
        + " If losing this is right, approve the plan (in the tool: --accept-losses); else use the newer app."
    case .newerVersion(let store):
      let offer = store.retainedVersion.map {
        " Or restore the retained version \($0.id), which fits the current model."
      }
      return unchanged + " Use the newer app.\(offer ?? "")"
    case .mappingNeeded(_, [], _):
      return unchanged + " Give a mapping model for its version, or let it be inferred."
    case .mappingNeeded(_, let obstacles, let skeleton):
      return unchanged + " " + obstacles.map(\.suggestion).joined(separator: " ")
        + (skeleton == nil
          ? "" : " The error's skeleton is Swift source to start from; in the tool: heirloom compare … --skeleton.")
    case .decisionNeeded:
      return unchanged
        + " Decide what becomes of the rows (a DataDecision for each; in the tool: --decide ENTITY.PROPERTY=CHOICE), or give the"
        + " properties defaults or make them optional."
    case .refused:
      return unchanged
    case .storeNotMigrated:
      return unchanged + " Call migrateStore() first and archive after it returned."
    case .storeInUse:
      return unchanged + " Close the store in other processes and connections, then try again."
    case .notEnoughSpace, .unfitLocation(_, _, 640), .failed(_, .database(_, 640)):
      return unchanged + " Free some room on its volume, then try again."
    case .unfitLocation(_, _, 513), .unfitLocation(_, _, 642):
      return unchanged + " Give this process the right to write there, then try again."
    case .unfitLocation, .noSuchVersion:
      return unchanged
    case .outcomeUnknown:
      return
        "\(storePath) is whole, in the old or the new version, and the previous version is kept beside it. Run again."
    case .failed(_, .cancelled):
      return unchanged + " Run again to migrate."
    case .failed(_, .unfitDecision):
      return unchanged + " The plan's blockers say what can be decided, and how."
    case .failed(_, .unknownPolicies):
      return unchanged
        + " Register the policies in the configuration, or give the entity mappings their Swift classes; the tool can't run them."
    case .failed(_, .unfitStages(let error)):
      return [unchanged, error.recoverySuggestion].compactMap(\.self).joined(separator: " ")
    case .failed(_, .stageFailed):
      return unchanged + " Correct the handler, then try again: it runs anew on the store as it is."
    case .failed(_, .notUnique):
      return unchanged
        + " Let the expression or the policy make values that differ, or take only some of the objects by the entity mapping's"
        + " condition; what is copied as it is can be decided instead (newest, merge, quarantine)."
    case .failed(_, .mappingFailed), .failed(_, .invalidExpression), .failed(_, .unsupportedMapping):
      return unchanged + " Correct the mapping or its policy, then try again."
    case .failed:
      return "\(storePath) still holds all data in the old version. Run heirloom rehearse on a copy to see the failure."
    }
  }
}
