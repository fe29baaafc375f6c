import HeirloomMigration
import TestSupport

/// How the store and what belongs to it lie there when an operation begins.
enum InitialState: String, CaseIterable, Sendable {
  case rollbackAtRest = "rollback mode at rest"
  case uncheckpointedWAL = "WAL never checkpointed"
  case partlyCheckpointedWAL = "WAL partly checkpointed"
  case hotJournal = "hot journal"
  case unreadableLog = "WAL with a damaged frame"
  case coldJournal = "cold journal"
  case persistedJournal = "PERSIST journal"
  case externalData = "external binary data"
  case retainedVersion = "a retained version already there"
  case archiveDue = "an archive due"
  case staleCandidate = "a stale candidate"
}

/// What is done to the store.
enum CrashOperation: String, Sendable {
  /// A launch of the app's third version: the two calls.
  case migrate
  /// The first call alone.
  case migrateAlone = "migrate without archiving"
  /// The same launch of an app whose third version has no place for some rows: they go to a file.
  case migrateDeciding = "migrate with rows in quarantine"
  /// The same, and the commit point fails.
  case giveUpDeciding = "give up with rows in quarantine"
  /// A previous version takes the store's place.
  case restore
  /// The second call alone, of an app whose store is current.
  case archive
  /// A launch with nothing to do but to remove versions kept too long.
  case prune
  /// A launch whose commit point fails: everything is taken back.
  case giveUp = "give up"
  /// The store is moved to `incompatible`.
  case setAside = "set aside"
  /// A store that was moved aside, and migrated there, takes the place of the one that the app has made since.
  case adopt
  /// The same from the beginning: it is migrated first.
  case migrateAndAdopt = "migrate aside and adopt"
  /// The same, and there is no store in its place.
  case adoptAlone = "adopt where no store is"
  /// A previous version takes the place of a store that was lost.
  case restoreLost = "restore a lost store"
  /// What a deferred migration left is cleaned up, piece by piece.
  case cleanUp = "clean up"
  /// What can be read of a damaged store goes to a new one.
  case salvage
}

/// An operation on a store in a state: one line of the list that every builder and every operation goes through.
struct CrashScenario: Hashable, Sendable, CustomStringConvertible {
  var initial: InitialState
  var operation: CrashOperation
  var builder: BuilderChoice = .automatic
  /// Whether the file system has no hard links.
  var refusesLinks = false
  /// How much of a migration is done by code.
  var code: Code = .none
  /// Whether clean-up is left for later.
  var deferral: Deferral = .none

  /// What is left for later, by an app each of whose versions drops something.
  enum Deferral: String, Sendable {
    case none = ""
    /// The migration leaves clean-up.
    case leaves = ", leaving clean-up"
    /// The migration finds clean-up that the one before has left, and leaves none.
    case finds = ", finding clean-up left"
  }

  /// How much of a migration is done by code, object by object.
  enum Code: String, Sendable {
    case none = ""
    case policies = " by policies"
    /// In two hops through the second version, with a store between them.
    case hops = " by policies in two hops"
    /// In two stages, with code before and after each.
    case stages = " in two stages"
  }

  /// Whether each call fails in all ways: from other beginnings, in one at least.
  var triesAllErrors: Bool { initial == .uncheckpointedWAL }

  /// Whether the operation is given up at its commit point.
  var isGivenUp: Bool { operation == .giveUp || operation == .giveUpDeciding }

  /// Whether a set that was moved aside returns.
  var isAdopting: Bool { [.adopt, .adoptAlone, .migrateAndAdopt].contains(operation) }

  /// Whether rows go to a file.
  var hasQuarantine: Bool { operation == .migrateDeciding || operation == .giveUpDeciding }

  var description: String {
    let maker =
      switch builder {
      case .automatic: ""
      case .always(let builder): " by \(builder)"
      }
    let start = "\(operation.rawValue)\(code.rawValue)\(maker), \(initial.rawValue)\(deferral.rawValue)"
    return start + (refusesLinks ? ", no links" : "")
  }

  /// The beginnings for what is done in the candidate or in the store alone.
  private static let fewBeginnings: [InitialState] = [.rollbackAtRest, .uncheckpointedWAL, .hotJournal]

  /// Every state with every operation; a new operation or builder is one line more.
  static let table: [CrashScenario] = InitialState.allCases.enumerated().flatMap { place, initial in
    // What code makes is made in the candidate, which the beginning touches little: a few of them are tried. The quick selection
    // has one, and leaves out what two hops do as well.
    let codes: [Code] =
      LongTests.areOn && fewBeginnings.contains(initial)
      ? [.policies, .hops, .stages] : initial == .uncheckpointedWAL ? [.hops, .stages] : []
    // The same holds for how the candidate is made: both ways from a few beginnings, in turns from the others.
    let builders: [MigrationPlan.Builder] =
      fewBeginnings.contains(initial)
      ? [.rebuild, .cloneAndAlter] : place.isMultiple(of: 2) ? [.rebuild] : [.cloneAndAlter]
    return builders.map { CrashScenario(initial: initial, operation: .migrate, builder: .always($0)) } + [
      CrashScenario(initial: initial, operation: .restore),
      CrashScenario(initial: initial, operation: .archive),
      CrashScenario(initial: initial, operation: .prune),
    ] + codes.map { CrashScenario(initial: initial, operation: .migrate, code: $0) }
  }

  /// What the table has no place for.
  static let further: [CrashScenario] = [
    CrashScenario(initial: .persistedJournal, operation: .migrateAlone),
    CrashScenario(initial: .rollbackAtRest, operation: .migrateDeciding, builder: .always(.rebuild)),
    CrashScenario(initial: .uncheckpointedWAL, operation: .migrateDeciding, builder: .always(.cloneAndAlter)),
    CrashScenario(initial: .externalData, operation: .migrateDeciding, refusesLinks: true),
    CrashScenario(initial: .staleCandidate, operation: .migrateDeciding),
    CrashScenario(initial: .rollbackAtRest, operation: .giveUpDeciding),
    CrashScenario(initial: .rollbackAtRest, operation: .giveUp),
    CrashScenario(initial: .uncheckpointedWAL, operation: .giveUp),
    CrashScenario(initial: .externalData, operation: .giveUp, refusesLinks: true),
    CrashScenario(initial: .externalData, operation: .setAside),
    CrashScenario(initial: .externalData, operation: .setAside, refusesLinks: true),
    CrashScenario(initial: .hotJournal, operation: .setAside),
    CrashScenario(initial: .hotJournal, operation: .migrate, refusesLinks: true),
    CrashScenario(initial: .unreadableLog, operation: .migrate, refusesLinks: true),
    CrashScenario(initial: .unreadableLog, operation: .giveUp),
    CrashScenario(initial: .externalData, operation: .adopt),
    CrashScenario(initial: .externalData, operation: .adopt, refusesLinks: true),
    CrashScenario(initial: .uncheckpointedWAL, operation: .adopt),
    CrashScenario(initial: .externalData, operation: .migrateAndAdopt),
    CrashScenario(initial: .externalData, operation: .adoptAlone),
    CrashScenario(initial: .externalData, operation: .adoptAlone, refusesLinks: true),
    CrashScenario(initial: .externalData, operation: .restoreLost),
    CrashScenario(initial: .externalData, operation: .restoreLost, refusesLinks: true),
    CrashScenario(initial: .externalData, operation: .migrate, refusesLinks: true),
    CrashScenario(initial: .uncheckpointedWAL, operation: .migrate, refusesLinks: true),
    CrashScenario(initial: .externalData, operation: .restore, refusesLinks: true),
    CrashScenario(initial: .rollbackAtRest, operation: .salvage),
    CrashScenario(initial: .rollbackAtRest, operation: .salvage, refusesLinks: true),
    CrashScenario(initial: .uncheckpointedWAL, operation: .salvage),
    CrashScenario(initial: .hotJournal, operation: .salvage),
  ]

  /// Clean-up that is left, found and done; the quick selection has one of each.
  static let deferring: [CrashScenario] = fewBeginnings.flatMap { initial -> [CrashScenario] in
    var scenarios: [CrashScenario] = []
    func add(_ operation: CrashOperation, _ deferral: Deferral, quick: InitialState) {
      guard LongTests.areOn || initial == quick else { return }
      scenarios.append(CrashScenario(initial: initial, operation: operation, deferral: deferral))
    }
    add(.migrate, .leaves, quick: .uncheckpointedWAL)
    add(.migrate, .finds, quick: .rollbackAtRest)
    add(.cleanUp, .leaves, quick: .uncheckpointedWAL)
    return scenarios
  }

  static let all = LongTests.selection(of: table, every: 4) + LongTests.selection(of: further, every: 2) + deferring

  /// The scenarios whose recovery is crashed in as well.
  static let base: [CrashScenario] =
    [
      CrashScenario(initial: .rollbackAtRest, operation: .migrate),
      CrashScenario(initial: .uncheckpointedWAL, operation: .migrate),
      CrashScenario(initial: .hotJournal, operation: .migrate, builder: .always(.rebuild)),
      CrashScenario(initial: .hotJournal, operation: .migrate, builder: .always(.cloneAndAlter)),
      CrashScenario(initial: .externalData, operation: .migrate, refusesLinks: true),
      CrashScenario(initial: .unreadableLog, operation: .migrate),
      CrashScenario(initial: .rollbackAtRest, operation: .migrate, code: .policies),
      CrashScenario(initial: .rollbackAtRest, operation: .migrateDeciding),
      CrashScenario(initial: .rollbackAtRest, operation: .restore),
      CrashScenario(initial: .rollbackAtRest, operation: .archive),
      CrashScenario(initial: .rollbackAtRest, operation: .prune),
      CrashScenario(initial: .staleCandidate, operation: .migrate),
      CrashScenario(initial: .externalData, operation: .setAside),
      CrashScenario(initial: .externalData, operation: .adoptAlone),
      CrashScenario(initial: .externalData, operation: .restoreLost),
    ]
    + (LongTests.areOn
      ? [
        CrashScenario(initial: .uncheckpointedWAL, operation: .migrate, deferral: .leaves),
        CrashScenario(initial: .uncheckpointedWAL, operation: .cleanUp, deferral: .leaves),
      ] : [])
}
