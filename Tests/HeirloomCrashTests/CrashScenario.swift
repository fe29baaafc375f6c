import HeirloomMigration
import TestSupport

enum InitialState: String, CaseIterable, Sendable {
  case rollbackAtRest = "rollback mode at rest"
  case uncheckpointedWAL = "WAL never checkpointed"
  case partlyCheckpointedWAL = "WAL partly checkpointed"
  case hotJournal = "hot journal"
  case unreadableLog = "WAL with a damaged frame"
  case coldJournal = "cold journal"
  case persistedJournal = "PERSIST journal"
  case externalData = "external binary data"
  case previousVersion = "a previous version already there"
  case archiveDue = "an archive due"
  case staleCandidate = "a stale candidate"
}

enum CrashOperation: String, Sendable {
  /// A launch of the app's third version: the two calls.
  case migrate
  case migrateAlone = "migrate without archiving"
  case migrateDeciding = "migrate with rows in quarantine"
  case giveUpDeciding = "give up with rows in quarantine"
  case restore
  /// The second call alone, of an app whose store is current.
  case archive
  /// A launch that has nothing to do but remove versions that were kept too long.
  case prune
  /// A launch whose commit point fails: everything is undone.
  case giveUp = "give up"
  case setAside = "set aside"
  /// A set-aside store that was migrated there takes the place of the one that the app has made since.
  case adopt
  case migrateAndAdopt = "migrate aside and adopt"
  case adoptAlone = "adopt where no store is"
  case restoreLost = "restore a lost store"
  case cleanUp = "clean up"
  case salvage
}

struct CrashScenario: Hashable, Sendable, CustomStringConvertible {
  var initial: InitialState
  var operation: CrashOperation
  var builder: BuilderChoice = .automatic
  var refusesLinks = false
  var code: Code = .none
  var deferral: Deferral = .none

  /// An app each of whose versions drops something leaves clean-up for later.
  enum Deferral: String, Sendable {
    case none = ""
    case leaves = ", leaving clean-up"
    /// The migration finds clean-up that the one before it left, and leaves none.
    case finds = ", finding clean-up left"
  }

  enum Code: String, Sendable {
    case none = ""
    case policies = " by policies"
    /// In two hops through the second version, with a store between them.
    case hops = " by policies in two hops"
    /// In two stages, with code before and after each.
    case stages = " in two stages"
  }

  /// True when each call fails in all ways; from other initial states, it fails in at least one.
  var triesAllErrors: Bool { initial == .uncheckpointedWAL }

  var isGivenUp: Bool { operation == .giveUp || operation == .giveUpDeciding }

  var isAdopting: Bool { [.adopt, .adoptAlone, .migrateAndAdopt].contains(operation) }

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

  /// The initial states for work that is done in the candidate or in the store alone.
  private static let fewBeginnings: [InitialState] = [.rollbackAtRest, .uncheckpointedWAL, .hotJournal]

  /// Every initial state with every operation; a new operation or builder is one more line.
  static let table: [CrashScenario] = InitialState.allCases.enumerated().flatMap { place, initial in
    // Code makes its objects in the candidate, which the initial state hardly affects: only a few are tried. The quick
    // selection has one, and leaves out whatever two hops cover too.
    let codes: [Code] =
      LongTests.areOn && fewBeginnings.contains(initial)
      ? [.policies, .hops, .stages] : initial == .uncheckpointedWAL ? [.hops, .stages] : []
    // The same is true of the builders: both from a few initial states, in turns from the others.
    let builders: [MigrationPlan.Builder] =
      fewBeginnings.contains(initial)
      ? [.rebuild, .cloneAndAlter] : place.isMultiple(of: 2) ? [.rebuild] : [.cloneAndAlter]
    return builders.map { CrashScenario(initial: initial, operation: .migrate, builder: .always($0)) } + [
      CrashScenario(initial: initial, operation: .restore),
      CrashScenario(initial: initial, operation: .archive),
      CrashScenario(initial: initial, operation: .prune),
    ] + codes.map { CrashScenario(initial: initial, operation: .migrate, code: $0) }
  }

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

  /// Scenarios in which clean-up is left, found and done; the quick selection has one of each.
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

  /// The scenarios whose recovery crashes as well.
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
