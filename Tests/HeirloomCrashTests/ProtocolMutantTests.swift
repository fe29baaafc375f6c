import HeirloomMigration
import Testing

/// The protocol with mistakes: the crash states prove something about the right protocol only if they show these.
struct ProtocolMutantTests {
  /// The likeliest are first.
  private static func scenarios(for mutant: ProtocolMutant) -> [CrashScenario] {
    switch mutant {
    case .coldJournalKept: [CrashScenario(initial: .persistedJournal, operation: .migrate)]
    case .snapshotInPlace: [CrashScenario(initial: .archiveDue, operation: .archive)]
    case .pruneWithoutRename: [CrashScenario(initial: .rollbackAtRest, operation: .prune)]
    // A clone has its original's attributes from the start.
    case .attributesNotKept, .attributesAfterSync:
      [CrashScenario(initial: .rollbackAtRest, operation: .migrate, builder: .always(.rebuild))]
    default:
      [
        CrashScenario(initial: .rollbackAtRest, operation: .migrate),
        CrashScenario(initial: .persistedJournal, operation: .migrate),
        CrashScenario(initial: .hotJournal, operation: .migrate),
      ]
    }
  }

  /// Some show only where files have attributes.
  private static let mutants = ProtocolMutant.allCases.filter {
    !FileNote.expected.isEmpty || ![.attributesNotKept, .attributesAfterSync].contains($0)
  }

  @Test(arguments: mutants)
  func `a wrong protocol is caught`(_ mutant: ProtocolMutant) throws {
    for scenario in Self.scenarios(for: mutant) {
      var run = try CrashRun(scenario, stopsAtFirst: true)
      try run.crash(mutant: mutant)
      guard let fault = run.tally.faults.first else { continue }
      print("protocol mutant “\(mutant.rawValue)”: caught in “\(scenario)”, state \(run.tally.statesTried), \(fault)")
      return
    }
    Issue.record("“\(mutant.rawValue)” was not caught")
  }

  /// Leaves out one sync after the other, except SQLite's own on leaving WAL mode and that of the held store.
  ///
  /// The held store's is for changes that an app wrote with less care: here those are on the disk from the start.
  @Test(arguments: [
    CrashScenario(initial: .persistedJournal, operation: .migrateAlone),
    CrashScenario(initial: .uncheckpointedWAL, operation: .migrateAlone),
  ])
  func `no sync is for show`(_ scenario: CrashScenario) throws {
    let changes = try CrashRun(scenario).record().changes
    let start = scenario.initial == .persistedJournal ? 0 : changes.firstIndex { $0.isManifestDraft } ?? 0
    let synchronizations = changes.indices.filter {
      $0 >= start && changes[$0].isSynchronization && changes[$0] != .synchronize(.path(CrashApp.storeName))
    }
    #expect(synchronizations.count >= 10)
    var idle: [String] = []
    for index in synchronizations {
      var mutant = changes
      mutant.remove(at: index)
      var run = try CrashRun(scenario, stopsAtFirst: true)
      try run.crash(mutant, returned: true)
      if run.tally.faults.isEmpty { idle.append("\(index): \(changes[index])") }
    }
    #expect(idle == [])
  }
}

extension SystemChange {
  /// True for the draft of an operation's record: the store is held from before it on.
  fileprivate var isManifestDraft: Bool {
    guard case .create(let path) = self else { return false }
    return path.hasSuffix("manifest.json.tmp")
  }
}
