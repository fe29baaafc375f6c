import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

final class StoreDiagnosis {
  let path: String
  let models: [String]
  /// The models that make up the store's model, as far as they were given.
  let given: StoreModels
  /// `nil` if the store can't be read.
  let check: StoreCheck?
  let problem: StoreError?
  /// `nil` if the metadata can't be read.
  let inspection: StoreInspection?
  let journalMode: JournalMode?
  /// The newest first.
  let versions: [PreviousVersion]
  let setsAside: [String]
  /// The first set-aside store whose log SQLite can't read completely.
  let asideWithLog: String?
  private let quarantine: [String]
  private let bytes: (main: Int64, log: Int64, external: Int64)
  /// SQLite would roll an interrupted change back only partly.
  let isJournalDamaged: Bool

  /// Throws `StoreError` if neither the file nor a kept version exists.
  init(of path: String, models: [String], console: Console) throws {
    (self.path, self.models) = (path, models)
    let vault = StoreVault(try StoreLocation(resolving: path, files: POSIXFileOperations()))
    // A folder that can't be listed is a finding, and doesn't stop the diagnosis.
    versions = (try? StoreArchive(storeURL: URL(fileURLWithPath: path)).previousVersions()) ?? []
    setsAside = (try? vault.setsAside()) ?? []
    quarantine = (try? vault.quarantineFiles()) ?? []
    var (check, problem): (StoreCheck?, StoreError?) = (nil, nil)
    do {
      check = try StoreCheck(of: path, models: models, console: console)
    } catch let error as StoreError {
      // A missing store may have kept versions; if there are none, the path is wrong.
      guard
        ![.missing, .notFile].contains(error.problem) || !versions.isEmpty || !setsAside.isEmpty
          || error.problem == .missing && error.hasLog
      else { throw error }
      problem = error
    }
    (self.check, self.problem) = (check, problem)
    let files = POSIXFileOperations()
    asideWithLog = ((try? vault.setAsideStores()) ?? []).map { $0.storePath(named: vault.location.name) }.first {
      store in
      let location = try? StoreLocation(resolving: store, files: files)
      return (try? location.flatMap { try StoreVault($0).logDamage() })?.lostCount ?? 0 > 0
    }
    given = try StoreModels(at: models, forStoreAt: path, console: console)
    inspection = check == nil ? nil : try? StoreInspection(at: path, known: given.all.fitting)
    journalMode = try? StoreReading.withQuietConnection(toStoreAt: path) { $0.headerJournalMode }
    let journal = problem?.problem == .needsRecovery ? try? RollbackJournal(besideDatabaseAt: vault.location.path) : nil
    isJournalDamaged = (try? journal?.playback())?.damage != nil
    bytes = (
      Self.size(vault.location.path), Self.size(vault.location.path + "-wal"), Self.sizeOfFolder(vault.location.support)
    )
  }

  // MARK: Reporting

  func report(_ style: TextStyle) -> CommandReport {
    let next = next
    var report = CommandReport()
    report.members = [
      ("path", .text(path)), ("problem", .optional(problem?.description)),
      ("identifier", .optional(check?.report.metadata?.identifier)),
      ("frameworkVersion", .optional((check?.report.metadata?.frameworkVersion).map(Int64.init))),
      ("modelSource", .text(check?.sourceCode ?? StoreInspection.Origin.none.rawValue)),
      ("modelFits", .boolean(check?.report.isModelFit ?? false)), ("versionName", .optional(inspection?.versionName)),
      (
        "versionChecksum",
        .optional((check?.report.metadata).map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) })
      ),
      ("rows", .optional(inspection?.rowCount)), ("entities", .optional((inspection?.entities.count).map(Int64.init))),
      ("journalMode", .optional(journalMode?.rawValue)),
      ("bytes", .integer(bytes.main)), ("logBytes", .integer(bytes.log)), ("externalBytes", .integer(bytes.external)),
      ("snapshot", .text(snapshot.rawValue)),
      (
        "versions",
        .list(
          versions.map { version in
            .object([
              ("id", .text(version.id)), ("date", .text(version.date.formatted(.iso8601))),
              ("bytes", .integer(version.byteCount)), ("pinned", .boolean(version.isPinned)),
              ("versionName", .optional(version.versionName)),
            ])
          })
      ),
      ("setsAside", .texts(setsAside)), ("quarantine", .texts(quarantine)), ("findings", check?.output ?? .list([])),
      ("deferred", .texts(inspection?.deferred ?? [])), ("next", .optional(next.command)),
      ("before", .optional(next.before?.command)),
    ]
    report.lines = ["\(style.bold(path)): \(problem == nil ? "a Core Data store" : style.red("no readable store"))"]
    if let problem { report.lines.append("  problem   \(problem.description)") }
    if let kind = otherFile { report.lines.append("  file      \(kind.words)") }
    if isLogMissing {
      report.lines.append(
        "  log       the header says WAL mode, and there is no \"-wal\", as after an app has closed the store; if the file was"
          + " copied while an app had it open, what was written last is in the \"-wal\" there")
    }
    report.lines += storeLines(style)
    report.lines.append("  kept      \(keptWords)")
    report.lines += versions.compactMap { $0.pinWords(path: path) }.map { "  pinned    \($0)" }
    if let deferred = inspection?.deferred, !deferred.isEmpty {
      report.lines.append("  left      \(listText(deferred, limit: 4)), to be cleaned up after a deferred migration")
    }
    report.lines += findingLines(style)
    if let before = next.before { report.lines.append("  before    \(style.bold(before.command))  (\(before.reason))") }
    report.lines.append(line(of: next, style))
    return report
  }

  func line(of next: Step, _ style: TextStyle) -> String {
    "  next      \(next.command.map { "\(style.bold($0))  (\(next.reason))" } ?? next.reason)"
  }

  private func storeLines(_ style: TextStyle) -> [String] {
    guard let check else { return [] }
    var lines: [String] = []
    if let inspection {
      lines.append(
        "  holds     \(counted(inspection.rowCount, "object")) in \(counted(Int64(inspection.entities.count), "entity"))"
      )
    }
    var size = sizeText(bytes.main)
    if let journalMode { size += journalMode == .wal ? ", WAL mode" : ", rollback journal" }
    if bytes.log > 0 { size += ", \(sizeText(bytes.log)) in its -wal" }
    if bytes.external > 0 { size += ", \(sizeText(bytes.external)) of external data" }
    lines.append("  size      \(size)")
    let version = given.words.map { "\($0), " } ?? inspection?.versionName.map { "version \"\($0)\", " } ?? ""
    lines.append(
      "  model     "
        + (check.report.isModelFit
          ? "\(version)from \(check.modelWords ?? "")"
          : style.red("none known that fits\(given.wordsForMissing.map { ": \($0)" } ?? "")")))
    if let metadata = check.report.metadata { lines.append("  written   by \(metadata.writerWords)") }
    return lines
  }

  private var keptWords: String {
    var parts: [String] = []
    if let newest = versions.first {
      let label = VersionLabel(newest.versionName, checksum: newest.versionChecksum).words
      parts.append(
        "\(counted(Int64(versions.count), "previous version")) (newest: \(newest.id), \(label), \(sizeText(newest.byteCount)))"
      )
    } else {
      parts.append("no previous version")
    }
    if !setsAside.isEmpty { parts.append("\(counted(Int64(setsAside.count), "set")) moved aside") }
    if !quarantine.isEmpty { parts.append("\(counted(Int64(quarantine.count), "file")) of rows in quarantine") }
    parts.append(snapshot.words)
    return parts.joined(separator: ", ")
  }

  private func findingLines(_ style: TextStyle) -> [String] {
    guard let check else { return [] }
    var lines = ["  findings  \(check.countWords)"]
    let shown = check.report.findings.filter { $0.severity < .note }
    lines += shown.prefix(5).map { "  \($0.line(style))" }
    if shown.count > 5 { lines.append("    and \(shown.count - 5) more: heirloom verify \(shellWord(path))") }
    return lines
  }

  // MARK: Files beside the store

  enum Snapshot: String {
    case fits, differs, damaged, none

    var words: String {
      switch self {
      case .fits: "a snapshot of its model"
      case .differs: "a snapshot of another version"
      case .damaged: "a snapshot that can't be read"
      case .none: "no snapshot"
      }
    }
  }

  var snapshot: Snapshot {
    let kinds = Set(check?.report.findings.map(\.kind) ?? [])
    if kinds.contains(.damagedSnapshot) { return .damaged }
    if kinds.contains(.differentSnapshot) { return .differs }
    do {
      return try ModelController(storeURL: URL(fileURLWithPath: path)).snapshot() == nil ? .none : .fits
    } catch {
      return .damaged
    }
  }

  static func size(_ path: String) -> Int64 {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
  }

  private static func sizeOfFolder(_ path: String) -> Int64 {
    guard let names = FileManager.default.enumerator(atPath: path) else { return 0 }
    var size: Int64 = 0
    for case let name as String in names {
      size = size.addingReportingOverflow(self.size("\(path)/\(name)")).partialValue
    }
    return size
  }
}
