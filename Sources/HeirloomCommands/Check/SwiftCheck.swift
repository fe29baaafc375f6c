import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// The check of what Swift source shows by itself: the known traps of SwiftData's versions, and edits of released ones.
struct SwiftCheck {
  /// The findings, errors first.
  private(set) var findings: [CheckFinding] = []
  /// True if the source declares a schema or gives a list of classes to a container.
  let hasSchemas: Bool
  /// The names of the shipped versions that were held against the source.
  private(set) var reviewedReleases: Set<String> = []

  /// Checks source.
  ///
  /// - Parameters:
  ///   - source: The place of the source.
  ///   - console: Knows what is left out of it.
  /// - Throws: `ModelReadingError` for a folder or a lock that can't be read.
  init(_ source: Console.SwiftSource, console: Console) throws(ModelReadingError) {
    let folder = try SwiftFolder(source.path, excluding: console.excludedSources)
    let schemas = SwiftDataSchemas(folder.source)
    hasSchemas = !schemas.schemas.isEmpty
    let beside = try AdjacentLock(inFolder: folder.directory)
    let lock = beside.lock ?? VersionLock()
    // The one list of an app without versions has no name in the source.
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

  /// Returns true for a finding that the source tells better, with its place and SwiftData's own words.
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

  /// Returns a history's findings without those that the source tells better, with its places.
  ///
  /// - Parameter others: The findings of the versions and their lock.
  /// - Returns: All findings.
  func without(_ others: [CheckFinding]) -> [CheckFinding] {
    let doubted = Set(others.filter { $0.kind == .uncertainVersion }.compactMap(\.version))
    return findings.filter { $0.trap != .uncertain || !doubted.contains($0.version ?? "") }
      + others.filter { finding in
        ![.editedVersion, .missingVersion].contains(finding.kind) || !reviewedReleases.contains(finding.version ?? "")
      }
  }
}
