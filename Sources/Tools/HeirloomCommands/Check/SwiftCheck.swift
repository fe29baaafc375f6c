import Heirloom
import HeirloomSwiftSource

/// Checks Swift source by itself: known pitfalls of SwiftData's versions, and edits of shipped
/// ones.
struct SwiftCheck {
  let findings: [HistoryFinding]
  /// True if the source declares a schema or passes a list of classes to a container.
  let hasSchemas: Bool

  init(_ history: SwiftHistory) throws(ModelReadingError) {
    let (folder, schemas) = (history.folder, history.schemas)
    hasSchemas = !schemas.schemas.isEmpty
    let beside = try AdjacentLock(inFolder: folder.directory)
    let lock = beside.lock ?? VersionLock()
    // The only schema of an app without versions has no name in the source.
    let isVersioned = schemas.schemas.first?.kind == .versionedSchema
    let shipped = lock.versions[lock.versionsBelowFloor.endIndex...].compactMap { entry in
      entry.entities.map { (name: entry.name, hashes: $0) }
    }
    let traps = SwiftDataReview(schemas, shipped: isVersioned ? shipped : []).findings.map { found in
      var finding = found
      finding.file = found.place.map(folder.file) ?? beside.path
      finding.line = found.place?.line
      finding.placeText = found.place.map(schemas.source.text)
      return finding
    }
    let unread = folder.source.faults.map { fault in
      HistoryFinding(
        .notRead, .warning, file: "\(folder.directory)/\(fault.path)", line: fault.error.line,
        "\(fault.path):\(fault.error.line): \(fault.error.reason); nothing in this file is known.")
    }
    findings = traps + unread
  }
}
