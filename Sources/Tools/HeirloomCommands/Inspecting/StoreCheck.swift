import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

/// The verification of a store and the files beside it, which changes nothing.
struct StoreCheck {
  let path: String
  let report: StoreReport
  let vault: StoreVault
  /// To give to a command that has to find the store's model; empty if it is beside or in the
  /// store.
  let neededModels: [String]

  /// `models` are paths of models that may have made the store.
  init(of path: String, models: [String], console: Console) throws {
    self.path = path
    try StoreReading.checkLog(besideStoreAt: path)
    var candidates = Self.snapshots(besideStoreAt: path)
    let given = try StoreModels(at: models, forStoreAt: path, console: console).all
    candidates += given.candidates
    var report = try StoreVerification.report(onStoreAt: path, candidates: candidates)
    // Other versions that don't fit the store are not faults, wherever its model was read from.
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

  /// Previous versions that open but can't be read completely; each is read now.
  private static func unsoundVersions(
    besideStoreAt path: String, except told: Set<String>
  ) -> [StoreFinding] {
    // A folder that can't be listed is reported by the vault.
    let versions = (try? StoreArchive(path: path).previousVersions()) ?? []
    return versions.filter { !told.contains($0.id) }.compactMap { version in
      guard let fault = (try? version.soundness())?.fault else { return nil }
      return StoreFinding(
        .warning, .damagedVersion,
        "The previous version \(version.id) can't be read whole: \(fault). The store itself is another file.",
        remedies: [.salvage], for: version.storeURL.path)
    }
  }

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

  /// True if the store has exactly the tables and columns of its nearest model.
  var fitsTables: Bool {
    let drift: Set<StoreFinding.Kind> = [
      .missingTable, .missingColumn, .differentColumnType, .extraColumn, .extraTable,
    ]
    return report.model != nil && !report.findings.contains { drift.contains($0.kind) && $0.severity < .note }
  }

  var countWords: String {
    let counts = StoreFinding.Severity.allCases.map { severity in
      (severity, report.findings.count { $0.severity == severity })
    }
    let words = counts.filter { $0.1 > 0 }.map { counted(Int64($0.1), $0.0.rawValue) }
    return words.isEmpty ? "no findings" : words.joined(separator: ", ")
  }

  var modelWords: String? {
    guard let source = report.modelSource else { return nil }
    return report.isModelFit ? source.description : "\(source.description) (it does not fit)"
  }

  var sourceCode: String {
    switch report.modelSource {
    case .snapshot: StoreInspection.Origin.snapshot.rawValue
    case .file: StoreInspection.Origin.file.rawValue
    case .cache: StoreInspection.Origin.cache.rawValue
    case nil: StoreInspection.Origin.none.rawValue
    }
  }

  var output: OutputValue {
    .list(
      report.findings.map { finding in
        .object([
          ("severity", .text(finding.severity.rawValue)), ("kind", .text(finding.kind.rawValue)),
          ("entity", .optional(finding.entity)), ("message", .text(finding.text(path: path, models: neededModels))),
        ])
      })
  }

  /// Reports findings through the exit code.
  var failure: CommandFailure? {
    guard report.hasFaults else { return nil }
    return CommandFailure(
      exitCode: .findings, code: "findings", coreDataCode: nil,
      message: "The store \(path) has \(countWords).",
      suggestion: "Nothing was changed. Each finding says what it means and what to do.", storeAt: path)
  }
}

extension StoreFinding {
  var isForRepair: Bool { remedies.contains(.repair) && kind != .damagedManifest }

  /// About Heirloom's files beside a store instead of its content.
  var isBesideStore: Bool {
    switch kind {
    case .unfinishedOperation, .damagedManifest, .leftover, .damagedVersion, .unusableFolder, .unkeptExternalFile,
      .damagedSnapshot, .missingExternalFile:
      true
    default: false
    }
  }

  func text(path: String, models: [String]) -> String {
    ([message] + remedies.compactMap { $0.command(for: path, ofKept: file, models: models) }).joined(separator: " ")
  }

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
