import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// The check of Swift source by itself: known pitfalls of SwiftData's versions, and edits of shipped versions.
struct SwiftCheck {
  /// The findings, errors first.
  private(set) var findings: [CheckFinding] = []
  /// True if the source declares a schema or passes a list of classes to a container.
  let hasSchemas: Bool
  /// The shipped versions that were compared with the source.
  private(set) var reviewedReleases: Set<String> = []

  /// Checks source; throws for a lock that can't be read.
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
    if isVersioned { reviewedReleases = Set(shipped.map(\.name)) }
    for found in SwiftDataReview(schemas, shipped: isVersioned ? shipped : []).findings {
      let severity: StoreFinding.Severity =
        switch found.severity {
        case .error: .error
        case .warning: .warning
        case .note: .note
        }
      var finding = CheckFinding(
        severity: severity, kind: .sourceTrap, version: found.schema, entity: found.entity, property: found.property,
        file: found.place.map(folder.file) ?? beside.path, line: found.place?.line, message: found.message)
      finding.trap = found.kind
      finding.place = found.place.map(schemas.source.text)
      findings.append(finding)
    }
    for fault in folder.source.faults {
      findings.append(
        CheckFinding(
          severity: .warning, kind: .notRead, file: "\(folder.directory)/\(fault.path)", line: fault.error.line,
          message: "\(fault.path):\(fault.error.line): \(fault.error.reason); nothing in this file is known."))
    }
  }

  /// True for a finding that the source check reports already, with its location.
  func tells(_ finding: CheckFinding) -> Bool {
    switch finding.kind {
    case .suspectedRename: true
    case .dataHazard:
      findings.contains {
        ($0.trap == .missingDefault || $0.trap == .newConstraint) && $0.entity == finding.entity
          && ($0.property == nil || finding.property == nil || $0.property == finding.property)
      }
    default: false
    }
  }

  /// Returns all findings, without a history's findings about edits that the source check covers already.
  func without(_ others: [CheckFinding]) -> [CheckFinding] {
    let doubted = Set(others.filter { $0.kind == .uncertainVersion }.compactMap(\.version))
    return findings.filter { $0.trap != .uncertain || !doubted.contains($0.version ?? "") }
      + others.filter { finding in
        ![.editedVersion, .missingVersion].contains(finding.kind) || !reviewedReleases.contains(finding.version ?? "")
      }
  }
}
