import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import HeirloomSupport
import TestSupport

extension CrashWorld {
  /// Checks a store whose clean-up was interrupted: it always has all objects, and can be cleaned up to the end.
  func faultOfCleaningUp(_ folder: String, _ promise: Promise) throws -> String? {
    guard let old, let new else { return "the scenario has no store" }
    let url = URL(fileURLWithPath: folder + "/" + CrashApp.storeName)
    let model = app.models[2]
    // It is opened as any app opens it: SQLite undoes or replays the interrupted change, and the integrity is checked.
    let seen = try StoreDump(url.path)
    guard seen.versionHashes == old.versionHashes else { return "the store has another version" }
    let candidate = StoreModelCandidate(source: .file("3"), model: model)
    let report = try StoreVerification.report(onStoreAt: url.path, candidates: [candidate])
    // When a file gets shorter, SQLite commits before it cuts the end off: the rest is ignored.
    if let finding = report.findings.first(where: { $0.severity < .note && $0.kind != .trailingBytes }) {
      return finding.message
    }
    let left = try StoreMetadata(contentsOf: url).deferredMigration
    let isTold = report.findings.contains { $0.kind == .pendingCleanUp }
    // Empty pages hold nothing to see.
    let isSeen = left.map { !$0.tables.isEmpty || !$0.missingIndexes.isEmpty } ?? false
    if isTold != (left != nil) || seen.isSameVersion(as: new) == isSeen {
      return "what is left and what the store says of it are two things"
    }
    if try StoreContents(of: url, model: model) != contents { return "objects are not as they were" }
    // Work may have to be done again after a loss of power, but not after a call that failed.
    if promise == .result, isTold { return "what was reported as cleaned up is not" }
    guard case .upToDate = try app.launch(3, in: folder) else { return "the next launch migrates" }
    try app.cleanUp(in: folder)
    guard try StoreDump(url.path).isSameVersion(as: new) else { return "the next clean-up does not come to its end" }
    if try StoreContents(of: url, model: model) != contents { return "the next clean-up loses objects" }
    let versions = try app.vault(in: folder).previousVersions().compactMap(\.storePath)
    guard try versions.map({ try dumps.dump($0) }) == kept else { return "the version kept before is not as it was" }
    return nil
  }
}
