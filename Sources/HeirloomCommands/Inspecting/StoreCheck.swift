import Foundation
import Heirloom
import HeirloomOutput

/// The verification of a store and the files beside it, without changing anything.
struct StoreCheck {
  /// The store's file.
  let path: String
  /// The report of the verification.
  let report: StoreReport
  /// The vault with the previous versions and set-aside stores.
  let vault: StoreVault
  /// The paths of models that a command needs to be told to find the store's model; none where it is beside or in the store.
  let neededModels: [String]

  /// Verifies a store.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - models: The paths of models that may have made it.
  ///   - console: Tells where paths start, and receives notes on models that can't be read.
  /// - Throws: `StoreError` for a file that is not a store; `ModelReadingError` for a path that leads to no model.
  init(of path: String, models: [String], console: Console) throws {
    self.path = path
    try StoreReading.checkLog(besideStoreAt: path)
    var candidates = Self.snapshots(besideStoreAt: path)
    let given = try StoreModels(at: models, forStoreAt: path, console: console).all
    candidates += given.candidates
    var report = try StoreVerification.report(onStoreAt: path, candidates: candidates)
    // The versions beside the one that made the store are no fault of it, whatever its model was read from.
    if report.isModelFit, let model = report.model, !given.fitting(model.versionHashes()).isEmpty {
      report.findings.removeAll { $0.kind == .differentModel }
    }
    vault = StoreVault(try StoreLocation(resolving: path, files: POSIXFileOperations()))
    report.add(try vault.findings())
    report.add(
      Self.unsoundVersions(besideStoreAt: path, except: Set(report.findings.compactMap(\.version))))
    self.report = report
    if case .file = report.modelSource { neededModels = models } else { neededModels = [] }
  }

  /// Returns findings about previous versions that can be opened and not read whole: each is read now.
  private static func unsoundVersions(
    besideStoreAt path: String, except told: Set<String>
  ) -> [StoreFinding] {
    // A folder that can't be listed is a finding of the vault's.
    let versions = (try? StoreArchive(path: path).previousVersions()) ?? []
    return versions.filter { !told.contains($0.id) }.compactMap { version in
      guard let fault = (try? version.soundness())?.fault else { return nil }
      return StoreFinding(
        .warning, .damagedVersion,
        "The previous version \(version.id) can't be read whole: \(fault). The store itself is another file.",
        remedies: [.salvage], for: version.storeURL.path)
    }
  }

  /// Returns the snapshot beside a store, or in a previous version the one in its folder.
  private static func snapshots(besideStoreAt path: String) -> [StoreModelCandidate] {
    let url = URL(fileURLWithPath: path)
    let beside = url.deletingLastPathComponent().appendingPathComponent(StoreLocation.snapshotName)
    return [ModelController(storeURL: url), ModelController(snapshotURL: beside)].compactMap { controller in
      do {
        return try controller.snapshot().map { StoreModelCandidate(source: .snapshot, model: $0.model) }
      } catch {
        return StoreModelCandidate(source: .snapshot, problem: sentence("\(error)"))
      }
    }
  }

  /// True if the store has the tables and columns of its nearest model, neither more nor less.
  var fitsTables: Bool {
    let drift: Set<StoreFinding.Kind> = [
      .missingTable, .missingColumn, .differentColumnType, .extraColumn, .extraTable,
    ]
    return report.model != nil && !report.findings.contains { drift.contains($0.kind) && $0.severity < .note }
  }

  /// The number of findings of each severity, in words.
  var countWords: String {
    let counts = StoreFinding.Severity.allCases.map { severity in
      (severity, report.findings.count { $0.severity == severity })
    }
    let words = counts.filter { $0.1 > 0 }.map { counted(Int64($0.1), $0.0.rawValue) }
    return words.isEmpty ? "no findings" : words.joined(separator: ", ")
  }

  /// The words for the model in a sentence.
  var modelWords: String? {
    guard let source = report.modelSource else { return nil }
    return report.isModelFit ? source.description : "\(source.description) (it does not fit)"
  }

  /// The origin of the model, for a program.
  var sourceCode: String {
    switch report.modelSource {
    case .snapshot: StoreInspection.Origin.snapshot.rawValue
    case .file: StoreInspection.Origin.file.rawValue
    case .cache: StoreInspection.Origin.cache.rawValue
    case nil: StoreInspection.Origin.none.rawValue
    }
  }

  /// The findings for a program.
  var output: OutputValue {
    .list(
      report.findings.map { finding in
        .object([
          ("severity", .text(finding.severity.rawValue)), ("kind", .text(finding.kind.rawValue)),
          ("entity", .optional(finding.entity)), ("message", .text(finding.text(path: path, models: neededModels))),
        ])
      })
  }

  /// The failure that makes the exit code tell of findings.
  var failure: CommandFailure? {
    guard report.hasFaults else { return nil }
    return CommandFailure(
      exitCode: .findings, code: "findings", coreDataCode: nil,
      message: "The store \(path) has \(countWords).",
      suggestion: "Nothing was changed. Each finding says what it means and what to do.", storeAt: path)
  }
}

extension StoreFinding {
  /// True for what a repair of the store itself corrects.
  var isForRepair: Bool { remedies.contains(.repair) && kind != .damagedManifest }

  /// True for what is about the files that Heirloom keeps beside a store, and not about the store's content.
  var isBesideStore: Bool {
    switch kind {
    case .unfinishedOperation, .damagedManifest, .leftover, .damagedVersion, .unusableFolder, .unkeptExternalFile,
      .damagedSnapshot, .missingExternalFile:
      true
    default: false
    }
  }

  /// Returns the message with the commands for the store at a path.
  func text(path: String, models: [String]) -> String {
    ([message] + remedies.compactMap { $0.command(for: path, ofKept: file, models: models) }).joined(separator: " ")
  }

  /// Returns the finding for a person: severity, entity and message, with the commands for the store at a path.
  func line(_ style: TextStyle, path: String? = nil, models: [String] = []) -> String {
    let title =
      switch severity {
      case .error: style.red("error")
      case .warning: style.yellow("warning")
      case .note: style.faint("note")
      }
    return
      "  \(title)  \(entity.map { style.bold($0) + ": " } ?? "")\(path.map { text(path: $0, models: models) } ?? message)"
  }
}
