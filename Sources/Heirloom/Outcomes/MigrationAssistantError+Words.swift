public import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomVault

extension MigrationAssistantError: ExplainedError {
  /// The store, with the finding and the expected state.
  public var cause: String {
    switch self {
    case .unreadableStore(let error):
      return error.cause
    case .noModel(let path, let nearest):
      let near = nearest.first.map { version in
        "; the nearest known version is \"\(version.name)\", with"
          + " \(CountText.counted(version.differingEntities.count, "entity")) that"
          + " \(version.differingEntities.count == 1 ? "differs" : "differ") (\(Self.list(version.differingEntities)))"
      }
      return
        "No known model made the store \(path): its version hashes fit neither the snapshot beside it, nor a version"
        + " of the history, nor a model of its own\(near ?? "")."
    case .unknownVersion(let path, let plan, let obstacles):
      let store = "The store \(path) is of a version that is not in the history, it may come from a newer app, and"
      if let plan { return "\(store) a migration would lose \(Self.list(plan.losses.map(Self.words)))." }
      let reasons = obstacles.map { ErrorWords.clause($0.reason) }.joined(separator: "; ")
      return obstacles.isEmpty
        ? "\(store) no mapping model was given for it." : "\(store) no mapping can be inferred: \(reasons)."
    case .partsMissing(let path, let versions, let entities, let plan):
      let loss = plan.map { "; a migration would lose \(Self.list($0.losses.map(Self.words)))" } ?? ""
      return
        "The store \(path) has the entities of \(ModelHistory.mergedName(versions.map { "\"\($0)\"" })) and others that"
        + " no version of the history has: \(Self.list(entities))\(loss)."
    case .newerVersion(let store):
      let version =
        store.versionName.map { "the version \"\($0)\", which comes after the current one" }
        ?? "a newer version, which is not in the history"
      return "The store \(store.storePath) is of \(version); nothing was written."
    case .belowFloor(let path, let version, let floor):
      return "The store \(path) is of the version \"\(version)\", which comes before \"\(floor)\", the oldest one whose"
        + " stores are still migrated; nothing was written."
    case .mappingNeeded(let path, [], _):
      return "No mapping model was given for the store \(path), and inference is off."
    case .mappingNeeded(let path, let obstacles, _):
      return "No mapping can be inferred for the store \(path): "
        + obstacles.map { ErrorWords.clause($0.reason) }.joined(separator: "; ") + "."
    case .decisionNeeded(let path, let plan):
      return "Rows of the store \(path) don't fit the new model: "
        + plan.blockers.map { "\(CountText.counted($0.rows, "row")): \(ErrorWords.clause($0.reason))" }
        .joined(separator: "; ") + "."
    case .lossesNotConsented(let path, let plan):
      return "A migration of the store \(path) would lose content without consent:"
        + " \(Self.list(plan.unconsentedLosses.map(Self.words)))."
    case .refused(let path, _):
      return "The app refused the migration of the store \(path)."
    case .storeNotMigrated(let path):
      return "The model was not archived, since the store \(path) is of another version; migrate it first."
    case .storeInUse(let path, let reason):
      return "The store \(path) is in use elsewhere: \(ErrorWords.ended(reason))"
    case .unfitLocation(_, let error):
      return ErrorWords.sentence(error.cause)
    case .notEnoughSpace(let shortage):
      return ErrorWords.sentence(shortage.description)
    case .outcomeUnknown(let path, let reason):
      return "The migrated store \(path) is in place but may not survive a loss of power: \(ErrorWords.ended(reason))"
    case .failed(_, let error):
      return error.cause
    case .noSuchVersion(_, let reason):
      return ErrorWords.sentence(reason)
    }
  }

  private static func words(_ loss: MigrationLoss) -> String {
    "\(loss.amount) of \(loss.entity)\(loss.property.map { ".\($0)" } ?? "")"
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }
}

extension MigrationAssistantError {
  /// The reasons of the plan's or the inference's findings, or the error of the app's code.
  public var reasons: [String] {
    switch self {
    case .mappingNeeded(_, let obstacles, _): obstacles.map(\.reason)
    case .decisionNeeded(_, let plan): plan.blockers.map(\.reason)
    case .unknownVersion(_, let plan, let obstacles): plan?.losses.map(\.reason) ?? obstacles.map(\.reason)
    case .partsMissing(_, _, _, let plan): plan?.losses.map(\.reason) ?? []
    case .lossesNotConsented(_, let plan): plan.unconsentedLosses.map(\.reason)
    case .storeInUse(_, let reason), .outcomeUnknown(_, let reason): [ErrorWords.sentence(reason)]
    case .failed(_, .mappingFailed(let failure)): [ErrorWords.sentence(of: failure.underlying)]
    case .failed(_, .stageFailed(let failure)): [ErrorWords.sentence(of: failure.underlying)]
    case .failed(_, .appFailed(let error)): [ErrorWords.sentence(of: error)]
    default: []
    }
  }

  /// The location of the data, and advice on what to provide, decide or close before another attempt.
  public var help: ErrorHelp {
    let store = DataLocation.store(path: storePath)
    switch self {
    case .unreadableStore(let error):
      return error.help
    case .unfitLocation(let path, let error):
      return error.help.inStore(at: path)
    case .failed(let path, let error):
      return error.help.inStore(at: path)
    case .noModel:
      return ErrorHelp(store, "Give the model that made it, from the app's earlier releases.")
    case .unknownVersion(_, let plan, _):
      let way =
        plan == nil ? "give a mapping model for it" : "if these losses are acceptable, accept the unknown version"
      return ErrorHelp(
        store,
        "Use the newer app if there is one. If the version is an earlier one, add its model to the app's history; or \(way).",
        [.plan])
    case .partsMissing(_, _, _, let plan):
      let way = plan == nil ? "" : "; or, if these losses are acceptable, accept the unknown version"
      return ErrorHelp(
        store,
        "If the app merges models, merge the history of the model that has these entities, too. Use the newer app if there is"
          + " one\(way).", [.plan])
    case .newerVersion(let newer):
      let offer = newer.previousVersion.map {
        " Or restore the previous version \($0.id), which this app can open."
      }
      return ErrorHelp(store, "Use the newer app.\(offer ?? "")")
    case .belowFloor(_, let version, _):
      return ErrorHelp(
        store,
        "Migrate it with an earlier release of the app that still migrates stores of \"\(version)\", then with this"
          + " one.")
    case .mappingNeeded(_, [], _):
      return ErrorHelp(store, "Give a mapping model for its version, or let it be inferred.")
    case .mappingNeeded(_, let obstacles, let skeleton):
      let source = skeleton == nil ? "" : " The error's skeleton is Swift source to start from."
      return ErrorHelp(store, obstacles.map(\.suggestion).joined(separator: " ") + source)
    case .decisionNeeded(_, let plan):
      return ErrorHelp(
        store,
        "Decide what happens to the rows, give the properties defaults, or make them optional; the choices are:"
          + " \(Self.choices(plan.blockers)).")
    case .lossesNotConsented:
      return ErrorHelp(
        store,
        "Give a mapping that keeps the content. If the losses are acceptable, consent: approve the plan, accept losses,"
          + " or acknowledge them in the history's lock.json.")
    case .refused:
      return ErrorHelp(store, "Migrate it once the app approves the plan.")
    case .storeNotMigrated:
      return ErrorHelp(store, "Call migrateStore() first and archive after it returned.")
    case .storeInUse:
      // The store was not read, and a process that has it open may change it.
      return ErrorHelp(.unchanged, "Close the store in other processes and connections, then try again.")
    case .notEnoughSpace:
      return ErrorHelp(store, "Free some space on its volume, then try again.")
    case .noSuchVersion(let path, _):
      return ErrorHelp(
        .described("\(path) was not changed."),
        "The store's archive lists its previous versions and set-aside stores.", [.previousVersions])
    case .outcomeUnknown(let path, _):
      return ErrorHelp(
        .described("\(path) is whole, in the old or the new version, and the previous version is kept beside it."),
        "Run again.")
    }
  }

  private static func choices(_ blockers: [MigrationBlocker]) -> String {
    list(
      blockers.map { blocker in
        "\(blocker.entity)\(blocker.property.map { ".\($0)" } ?? "") ("
          + blocker.choices.map(\.rawValue).joined(separator: ", ") + ")"
      })
  }

  /// The path of the store.
  public var filePath: String? { storePath }

  /// The error of the part that failed.
  public var underlyingError: (any Error)? {
    switch self {
    case .unreadableStore(let error): error
    case .unfitLocation(_, let error): error
    case .failed(_, let error): error
    default: nil
    }
  }
}
