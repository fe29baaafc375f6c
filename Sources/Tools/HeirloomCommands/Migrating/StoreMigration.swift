import Foundation
import Heirloom
import HeirloomOutput

struct StoreMigration {
  let request: MigrationRequest
  let console: Console

  /// With `mayLeave`, the process may end at once while nothing has begun.
  func run(on path: String, mayLeave: Bool = true) throws -> MigrationOutcome {
    try StoreReading.checkLog(besideStoreAt: path)
    var assistant = request.assistant(for: path)
    // The plan looked for such rows. A store that is up to date isn't read.
    if (try? assistant.isMigrationNeeded()) == true,
      let inspection = try? StoreInspection(at: path, known: { request.history.versions(withHashes: $0) }),
      inspection.hasRowsWithoutNumber
    {
      assistant = request.assistant(for: path, correctsNumbers: true)
    }
    return try run(assistant, mayLeave: mayLeave) { try $0.migrateStore() }
  }

  /// `source` is the set-aside store's file, `path` the place.
  func putBack(_ id: String, storedAt source: String, to path: String) throws -> SetAsideOutcome {
    try run(request.assistant(for: path, migrating: source), mayLeave: true) { assistant in
      guard let store = try assistant.archive.setAsideStores().first(where: { $0.id == id }) else {
        throw MigrationAssistantError.noSuchVersion(storePath: path, reason: "\(id) no longer exists")
      }
      return try assistant.migrateSetAsideStore(store)
    }
  }

  private func run<Outcome>(
    _ assistant: MigrationAssistant, mayLeave: Bool, _ body: (MigrationAssistant) throws -> Outcome
  ) throws -> Outcome {
    assistant.delegate = EventLog(console: console)
    console.progress.begin("Looking at the store")
    // Until another process releases the store, nothing has begun.
    if mayLeave { console.mayLeave(assistant.storeURL.path) }
    defer { console.interruption.stay() }
    return try console.interruption.cancelling(assistant.progress) { try body(assistant) }
  }
}

/// Left by an earlier deferred migration.
struct CleanUp {
  var done: [String] = []
  var left: [String] = []

  var words: String {
    if !done.isEmpty { return "cleaned up \(listText(done, limit: 6))." }
    return left.isEmpty ? "nothing to do." : "nothing to do but to clean up \(listText(left, limit: 6))."
  }
}

extension StoreMigration {
  /// Returns no parts after a migration; when it throws, the parts done before stay done.
  func cleanUp(after outcome: MigrationOutcome, at path: String) throws -> CleanUp {
    let url = URL(fileURLWithPath: path)
    guard case .upToDate = outcome, try StoreMetadata(contentsOf: url).deferredMigration != nil else {
      return CleanUp()
    }
    if request.configuration.defersLightweightMigration {
      let inspection = try StoreInspection(at: path) { request.history.versions(withHashes: $0) }
      return CleanUp(left: inspection.deferred)
    }
    var options = PersistentStoreOptions()
    options.migratesAutomatically = false
    options.migration = request.configuration
    options.delegate = EventLog(console: console)
    let store = try PersistentStore.open(at: url, history: request.history, options: options)
    console.progress.begin("Cleaning up")
    let items = try ActualSchema(of: store.connection).pending(under: store.schema).items
    while try store.finishDeferredLightweightMigrationTask() {
      if console.interruption.isInterrupted { throw MigrationError.cancelled }
    }
    try store.close()
    return CleanUp(done: items)
  }
}

final class EventLog: MigrationAssistantDelegate {
  private let console: Console
  private(set) var notes: [String] = []

  init(console: Console) {
    self.console = console
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision {
    console.interruption.stay()
    if console.interruption.isInterrupted { throw MigrationError.cancelled }
    return .automatic
  }

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    if let words = Self.words(event, assistant.storeURL.path) {
      notes.append(words)
      console.log("note: \(words)")
    }
    begin(after: event, assistant)
  }

  private func begin(after event: MigrationEvent, _ assistant: MigrationAssistant) {
    let progress = console.progress
    switch event {
    case .foundSourceModel: progress.begin("Planning")
    case .started:
      console.interruption.stay()
      progress.begin("Waiting for the store")
    case .held: progress.begin("Writing", counting: assistant.progress)
    case .runningStage(let name, _): progress.begin("Running the code of \(name)", counting: assistant.progress)
    case .built: progress.begin("Checking what was written", counting: assistant.progress)
    case .proven: progress.begin("Keeping the previous version", counting: assistant.progress)
    case .swapped: progress.begin("Finishing", counting: assistant.progress)
    default: break
    }
  }

  /// `nil` if the command's result covers the event.
  private static func words(_ event: MigrationEvent, _ path: String) -> String? {
    switch event {
    case .foundStaleCandidate(let path): "an earlier run left a candidate behind: \(path)"
    case .removedStaleCandidate(let path): "the candidate of an earlier run was removed: \(path)"
    case .recovered(let operation): MigrationEvent.words(ofRecovery: operation)
    case .undidInterruptedChange(let id):
      "a change of the store that was interrupted was undone; the version \(id) holds the store as it was before"
    case .undidPartOfInterruptedChange(let id, let reason):
      "\(reason) The version \(id) holds the store and the journal as they were; heirloom doctor \(shellWord(path)) names the command that reads them"
    case .keptUnreadableLog(let path, let reason): "\(reason) It is \(path)."
    case .restoredWithFaults(let id, let reason):
      "the version \(id) \(reason); heirloom doctor \(shellWord(path)) shows details"
    case .snapshotDisagrees: "the snapshot is of another version than the store, and is ignored"
    case .snapshotUnreadable(let reason): "the snapshot can't be read, and is ignored: \(reason)"
    case .sourceModelUncertain(let reason): reason
    case .cleanUpPostponed(let reason): "something is left for the next run to remove: \(reason)"
    case .pruned(let id): "the previous version \(id) was removed, since newer ones are kept"
    case .attributesLeftOut(let path, let count, let first):
      "\(path) could not be given \(counted(Int64(count), "attribute")) of the original file,"
        + " such as \(first)"
    case .pinned(let id, let losses):
      "the previous version \(id) holds \(listText(losses, limit: 6)), which the store lacks; it is kept until it is"
        + " released"
    default: nil
    }
  }
}
