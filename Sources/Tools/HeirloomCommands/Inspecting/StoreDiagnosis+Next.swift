import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

// Tests run each of these commands literally.
extension StoreDiagnosis {
  struct Step {
    /// `nil` if none helps.
    let command: String?
    /// Or what to do if no command helps.
    let reason: String
    /// To run first; it doesn't change the store.
    var before: (command: String, reason: String)?
  }

  /// After these, only a previous version may have the data.
  private static let losses: Set<StoreFinding.Kind> = [
    .damaged, .truncated, .missingMetadata, .invalidMetadata, .missingHashes, .missingTable, .missingColumn,
  ]

  private var word: String { shellWord(path) }

  var next: Step {
    if let objection = StoreReading.objectionToLog(besideStoreAt: path) {
      return Step(command: nil, reason: "the \"-wal\" isn't the store's: \(objection); move it away first")
    }
    let findings = check?.report.findings ?? []
    if let otherFile, let command = otherFile.command(at: path) {
      return Step(command: command, reason: "it is \(otherFile.words); this \(otherFile.action)")
    }
    let isLost =
      problem.map { Self.isLoss($0.problem) }
      ?? findings.contains { $0.severity == .error && Self.losses.contains($0.kind) }
    if isLost { return stepAfterLoss }
    if findings.contains(where: { $0.kind == .damagedLog && $0.severity == .error }) {
      return salvaging(
        "the \"-wal\" holds changes that SQLite can't reach and drops; salvage reads it, and the store there is left alone"
      )
    }
    if isJournalDamaged {
      return salvaging(
        "the \"-journal\" is damaged, and SQLite would undo only a part of the interrupted change; salvage reads it in a copy"
      )
    }
    if let step = stepForKeptLog { return step }
    if problem?.problem == .needsRecovery, let model = currentModel {
      return Step(
        command: "heirloom migrate \(word) --to \(model)",
        reason: "it undoes the interrupted change, and keeps the store as it is now if that is more than SQLite would")
    }
    if problem?.problem == .needsRecovery {
      return Step(
        command: nil,
        reason: "the command migrate undoes the interrupted change: give it the model that made the store with --to")
    }
    if let problem {
      return Step(command: nil, reason: problem.recoverySuggestion ?? "The problem says what is in the way.")
    }
    if let check, !check.report.isModelFit, check.report.metadata != nil {
      if given.wordsForMissing != nil {
        return Step(command: nil, reason: "give the model that has the rest, too, with a further --model")
      }
      if check.fitsTables {
        return salvaging(
          "no known model has the version hashes of the metadata, while tables and columns are those of"
            + " \(check.report.modelSource?.description ?? ""): if another model made the store, give it with --model; if the"
            + " hashes are damaged, this makes a new store of what can be read, and the files there are left alone")
      }
      return models.isEmpty
        ? Step(command: nil, reason: "give the model that made the store with --model")
        : Step(
          command: "heirloom inspect \(word)", reason: "it lists the entities and hashes of the model that is missing")
    }
    if findings.contains(where: { $0.kind == .damagedManifest }) {
      return Step(
        command: place.repair(), reason: "the record that stops every migration is set aside and kept")
    }
    if findings.contains(where: { $0.kind == .unfinishedOperation }) {
      return migration("the unfinished operation is recovered first")
        ?? Step(
          command: place.repair(), reason: "it recovers the unfinished operation, and does nothing else")
    }
    if findings.contains(where: \.isForRepair) {
      return Step(
        command: place.repair(models: check?.neededModels ?? []),
        reason: "it corrects only what rows and model determine; the store as it is now is kept")
    }
    if let step = stepForMissingFiles ?? stepForSnapshot ?? stepForKeptVersion ?? stepForErrors { return step }
    if let step = stepForTold { return step }
    if check?.report.hasFaults ?? true {
      return Step(command: "heirloom verify \(word)", reason: "all findings in full")
    }
    if inspection?.deferred.isEmpty == false {
      return migration("the deferred clean-up is completed")
        ?? Step(command: nil, reason: "the next migration cleans up; nothing is missing until then")
    }
    if isLogMissing {
      return Step(
        command: "heirloom inspect \(word)", reason: "nothing was found in this file; this lists what is in it")
    }
    return versions.isEmpty
      ? Step(command: "heirloom inspect \(word)", reason: "nothing is wrong; this lists what is in it")
      : Step(command: "heirloom versions \(word)", reason: "nothing is wrong; this lists what is kept")
  }

  /// For a store whose data can come only from elsewhere: a previous version or a salvage.
  private var stepAfterLoss: Step {
    let isDamaged = otherFile == nil && problem.map { Self.isDamage($0.problem) } ?? true && place.holdsPages
    let salvage = knownModels.map { place.salvage(models: $0) }
    if let newest = versions.first(where: \.isSound) {
      let isThere = FileManager.default.fileExists(atPath: path)
      return Step(
        command: "heirloom restore \(word) --version \(newest.id)",
        reason: "the newest version that is sound\(isThere ? "; what is there now is kept too" : "")",
        before: isDamaged || isLogAlone
          ? salvage.map { ($0, "it reads what was written since, as far as it can be read") } : nil)
    }
    if isLogAlone {
      return salvaging(
        "the \"-wal\" may hold what was in the store: don't let an app create one at this path, because SQLite would delete that file; a new"
          + " store is made of what can be read, and the files there are left alone")
    }
    if isDamaged {
      return salvaging(
        "\(versions.isEmpty ? "nothing is kept" : "no version that is kept is sound"); a new store is made of what can be read,"
          + " and the files there are left alone")
    }
    if let step = stepForKeptLog ?? stepForUnsoundVersions { return step }
    if case .notDatabase? = problem?.problem, otherFile == nil {
      return Step(
        command: nil, reason: "nothing to do here: the file has no page of a database; look for a backup")
    }
    if let otherFile { return Step(command: nil, reason: "nothing to do here: it is \(otherFile.words)") }
    switch problem?.problem {
    case .empty:
      return Step(
        command: nil, reason: "nothing to do: the file holds nothing, and an app that opens it makes a new store")
    case .notStore:
      return Step(command: nil, reason: "nothing to do: it is another program's database; look for the store elsewhere")
    default: return Step(command: "heirloom versions \(word)", reason: "it lists what is kept")
    }
  }

  private var stepForUnsoundVersions: Step? {
    guard !versions.isEmpty else { return nil }
    guard let kept = versions.map(\.storeURL.path).first(where: { StorePlace($0).holdsPages }) else {
      return Step(command: nil, reason: "nothing to do here: no version that is kept can be read; look for a backup")
    }
    // The salvage may find nothing, and the next diagnosis would suggest it again, so it isn't a
    // step.
    return Step(
      command: nil,
      reason:
        "no version that is kept can be read whole: look for a backup; \(salvage(ofKept: kept)) makes a new store of what can"
        + " be read of one")
  }

  /// For errors that no repair corrects, because the right value can't be determined.
  private var stepForErrors: Step? {
    let errors = (check?.report.findings ?? []).filter { $0.severity == .error && !$0.isBesideStore }
    guard !errors.isEmpty, knownModels != nil else { return nil }
    guard errors.contains(where: { $0.kind != .wrongValueType }) else {
      return Step(
        command: nil,
        reason:
          "the original values of those with the wrong type are unknown, and no command changes them:"
          + " compare them with a backup, and set them in the app")
    }
    return salvaging(
      "no repair can determine the right values; a new store is made of everything that fits the model, the rest is listed beside"
        + " it, and the files there are left alone")
  }

  private var stepForMissingFiles: Step? {
    let names = (check?.report.findings ?? []).flatMap(\.missingFiles)
    guard !names.isEmpty, let vault = check?.vault else { return nil }
    func folder(_ support: String) -> String { PathText.join(support, "_EXTERNAL_DATA") }
    let own = folder(vault.location.support)
    for version in versions {
      let (place, name) = PathText.split(version.storeURL.path)
      let kept = folder(PathText.join(place, StoreLocation.supportName(forStore: name)))
      let found = names.map { PathText.join(kept, $0) }.filter { Self.size($0) > 0 }
      guard !found.isEmpty else { continue }
      return Step(
        command: "cp \(found.map(shellWord).joined(separator: " ")) \(shellWord(own))",
        reason: "the version \(version.id) holds \(counted(Int64(found.count), "file")) of the missing data",
        before: FileManager.default.fileExists(atPath: own)
          ? nil : ("mkdir -p \(shellWord(own))", "the folder is missing")
      )
    }
    let kept = versions.map(\.storeURL.path).first { StorePlace($0).holdsPages }
    return Step(
      command: nil,
      reason: "look for \(listText(names, limit: 6)) in a backup, and copy it to \(own)"
        + (kept.map { "; \(salvage(ofKept: $0)) reads what the newest version holds" } ?? ""))
  }

  /// For an unreadable snapshot beside a store whose model is known.
  private var stepForSnapshot: Step? {
    let faults = (check?.report.findings ?? []).filter { $0.severity < .note }
    guard check?.report.isModelFit ?? false, faults.contains(where: { $0.kind == .damagedSnapshot }) else { return nil }
    let file = place.snapshotPath
    var aside = file + ".unread"
    while FileManager.default.fileExists(atPath: aside) { aside += "-2" }
    return Step(
      command: "mv \(shellWord(file)) \(shellWord(aside))",
      reason: "the next launch of the app, or a migration, writes a new one; the store has a copy of its model")
  }

  /// If no command resolves the findings and each finding's message says what to do.
  private var stepForTold: Step? {
    let faults = (check?.report.findings ?? []).filter { $0.severity < .note }
    guard !faults.isEmpty, faults.allSatisfy({ [.unusableFolder, .damagedModelCache].contains($0.kind) }) else {
      return nil
    }
    return Step(
      command: nil,
      reason: faults.contains { $0.kind == .unusableFolder }
        ? "find out what created the item in the folder's place, and move it away or make it readable"
        : "nothing to do: no row is affected, and a migration rewrites the copy of the model")
  }

  private var stepForKeptVersion: Step? {
    let faults = (check?.report.findings ?? []).filter { $0.severity < .note }
    guard !faults.isEmpty, faults.allSatisfy({ $0.kind == .damagedVersion }) else { return nil }
    let unsound = faults.compactMap(\.file).first { file in
      versions.contains { $0.storeURL.path == file && !$0.isSound } && StorePlace(file).holdsPages
    }
    // Nothing repairs the version, and the next diagnosis would suggest the command again, so it
    // isn't a step.
    return Step(
      command: nil,
      reason: "nothing to do: the findings concern previous versions, not the store"
        + (unsound.map { "; \(salvage(ofKept: $0)) reads what the version holds" } ?? ""))
  }

  /// For a log that was kept or moved aside because SQLite couldn't read it.
  private var stepForKeptLog: Step? {
    if let version = versions.first(where: { $0.isPinned && $0.alone.contains { $0.isOfLog || $0.isOfJournal } }) {
      return Step(
        command: salvage(ofKept: version.storeURL.path),
        reason: version.holdsInterruptedChange
          ? "a \"-journal\" that is kept with \(version.id) holds pages that SQLite couldn't bring back; salvage reads it"
          : "a \"-wal\" that is kept with \(version.id) holds changes that SQLite couldn't reach; salvage reads it")
    }
    return asideWithLog.map {
      Step(
        command: salvage(ofKept: $0),
        reason: "a \"-wal\" of a store that was moved aside holds changes that SQLite couldn't reach; salvage reads it")
    }
  }

  /// To the store's own model; `nil` if no file has it.
  private func migration(_ reason: String) -> Step? {
    currentModel.map { Step(command: "heirloom migrate \(word) --to \($0)", reason: reason) }
  }

  private func salvaging(_ reason: String) -> Step {
    guard let models = knownModels else {
      return Step(command: nil, reason: "\(reason). Salvage needs the app's model: give it with --model")
    }
    return Step(command: place.salvage(models: models), reason: reason)
  }

  // MARK: Models

  private var place: StorePlace { StorePlace(path) }

  /// As a shell word: a given model, with `--with` for further ones of a merged model, or the
  /// snapshot beside the store; `nil` if there is none.
  private var currentModel: String? {
    let paths = given.isMerged ? given.paths : [models.first ?? place.snapshot].compactMap(\.self)
    guard let first = paths.first else { return nil }
    return shellWord(first) + paths.dropFirst().map { " --with \(shellWord($0))" }.joined()
  }

  /// To pass to `salvage`, empty if it finds one itself; `nil` if no model is known.
  private var knownModels: [String]? {
    if !models.isEmpty { return models }
    if check?.report.isModelFit ?? false || place.knowsModel { return [] }
    return place.keptModel.map { [$0] }
  }

  private func salvage(ofKept store: String) -> String {
    place.salvage(ofKept: store, otherwise: models)
  }

  // MARK: Files

  /// The store is missing but its log exists, which SQLite would delete with the next store of that
  /// name.
  private var isLogAlone: Bool {
    guard let problem, [.missing, .empty].contains(problem.problem) else { return false }
    return problem.hasLog
  }

  /// True if commits may be missing with the log: the header says WAL mode, and there is no log.
  ///
  /// A clean close leaves the same state, and no header field distinguishes it from an incomplete
  /// copy: page count and change counter are those of the last checkpoint. A store with kept files
  /// beside it is where the app uses it, so it counts as complete.
  var isLogMissing: Bool {
    switch problem?.problem {
    case .notStore, .truncated, .metadataRowCount, .missingVersionHashes: break
    case nil where snapshot == .none && versions.isEmpty && setsAside.isEmpty: break
    default: return false
    }
    guard let bytes = FileStart(path).bytes, bytes.count > 19, let file = try? location.path,
      !FileManager.default.fileExists(atPath: file + "-wal")
    else { return false }
    return bytes[18] == 2
  }

  private var location: StoreLocation {
    get throws { try StoreLocation(resolving: path, files: POSIXFileOperations()) }
  }

  var otherFile: FileStart.Kind? {
    guard case .notDatabase? = problem?.problem else { return nil }
    return FileStart(path).kind
  }

  /// The store can't become readable again, unlike one that is in use or that this user may not
  /// read.
  private static func isLoss(_ problem: StoreError.Problem) -> Bool {
    switch problem {
    case .missing, .notFile, .empty, .notStore: true
    default: isDamage(problem)
    }
  }

  /// The unreadable store may hold rows that can be salvaged.
  private static func isDamage(_ problem: StoreError.Problem) -> Bool {
    switch problem {
    case .notDatabase, .truncated, .damaged, .metadataRowCount, .invalidMetadata, .missingVersionHashes: true
    default: false
    }
  }
}
