import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// Collects everything about a store that contains no row value, in any state of the store.
///
/// A failure becomes a problem in the report and doesn't stop the collection: archives are made
/// when something went wrong. Nothing is written and no lock is taken.
final class DiagnosticsCollector {
  var report: DiagnosticsReport
  private(set) var schema: [String] = []
  /// The set-aside stores that have not returned, the oldest first.
  private(set) var waiting: [SetAsideFiles] = []
  /// The model that made the store, if known.
  private(set) var model: ManagedObjectModel?

  /// The name of that model's version in the history.
  private var versionName: String?

  private let assistant: MigrationAssistant
  private let location: StoreLocation
  private let files: any FileOperations
  private var vault: StoreVault { StoreVault(location, files: files) }

  init(_ assistant: MigrationAssistant, location: StoreLocation) {
    self.assistant = assistant
    self.location = location
    files = assistant.files
    let configuration = assistant.configuration
    report = DiagnosticsReport(
      made: Self.time(Date()), system: Self.system(), store: location.name,
      configuration: DiagnosticsReport.Configuration(
        keptVersions: configuration.keptVersions, losses: configuration.losses.rawValue,
        migratesUnknownVersions: configuration.migratesUnknownVersions,
        incompatibleStore: configuration.incompatibleStore.rawValue,
        proof: "\(configuration.proof)", infersMappingModel: configuration.infersMappingModel,
        defersLightweightMigration: configuration.defersLightweightMigration,
        allowsUnsafeVolume: configuration.allowsUnsafeVolume, mappings: configuration.mappings.count,
        decisions: configuration.decisions.count, stages: assistant.stagedManager != nil))
    // The events first, since the following inspections report events of their own.
    report.events = assistant.recentEvents.entries.map {
      DiagnosticsReport.Event(at: Self.time($0.date), text: $0.text)
    }
    report.droppedEvents = assistant.recentEvents.droppedCount
    addFiles()
    addCompanion()
    addStatus()
    let canRead = addDatabase()
    addSnapshot()
    if canRead { addFindings() }
    trying("the companion folder") {
      report.findings += try vault.findings().map(Self.finding)
    }
  }

  private func trying(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      let text = (error as? MigrationAssistantError)?.textWithoutValues ?? "\(error)"
      report.problems.append("\(what): \(text)")
    }
  }

  private static func time(_ date: Date) -> String { date.formatted(.iso8601) }

  private static func time(_ seconds: Int64) -> String { time(Date(timeIntervalSince1970: Double(seconds))) }

  private static func finding(_ finding: StoreFinding) -> DiagnosticsReport.Finding {
    DiagnosticsReport.Finding(
      severity: finding.severity.rawValue, kind: finding.kind.rawValue, entity: finding.entity,
      message: finding.message)
  }

  private static func system() -> DiagnosticsReport.System {
    #if arch(x86_64)
      let architecture = "x86_64"
    #elseif arch(arm64)
      let architecture = "arm64"
    #else
      let architecture = "other"
    #endif
    let memory = try? Connection(path: "", mode: .memory)
    return DiagnosticsReport.System(
      heirloom: HeirloomRelease.version,
      sqlite: (try? memory?.firstValue("SELECT sqlite_version()"))?.text,
      platform: ProcessInfo.processInfo.operatingSystemVersionString, architecture: architecture)
  }

  // MARK: Files

  private func addFiles() {
    for path in [location.path] + location.sideFiles + [location.support, location.companion] { add(path) }
    trying("the folder of external data") {
      var count = 0
      var bytes: Int64 = 0
      try visit(location.support, depth: 8) { _, status in
        guard status.kind == .regular else { return }
        count += 1
        bytes = bytes.addingReportingOverflow(status.size).partialValue
      }
      (report.externalFiles, report.externalBytes) = (count, bytes)
    }
    trying("the volume") {
      let volume = try files.volume(of: location.directory)
      report.volume = DiagnosticsReport.Volume(
        kind: volume.kind.rawValue, fileSystem: volume.fileSystemName, availableBytes: volume.availableBytes)
    }
  }

  private func addCompanion() {
    var paths: [String] = []
    trying("the companion folder") {
      // The first two levels are the vault's own; manifests describe what the deeper ones hold.
      try visit(location.companion, depth: 2) { path, _ in paths.append(path) }
    }
    for path in paths.prefix(500) { add(path) }
    trying("the record of an operation") {
      guard let status = try files.status(of: location.manifest), status.kind == .regular else { return }
      let manifest = try VaultManifest(
        decoding: try files.readFile(location.manifest, limit: VaultManifest.byteLimit))
      report.operation = DiagnosticsReport.Operation(
        operation: manifest.operation.rawValue, phase: manifest.phase.rawValue, began: Self.time(manifest.time))
    }
    trying("previous versions") {
      report.previous = try vault.previousVersions().map { version in
        DiagnosticsReport.Kept(
          id: version.name.text, versionChecksum: version.manifest?.versionChecksum,
          versionName: version.manifest?.versionName, bytes: version.byteCount)
      }
    }
    trying("sets that were moved aside") {
      let sets = try vault.setAsideStores()
      waiting = sets.filter { $0.adoption == nil }
      report.aside = sets.map { set in DiagnosticsReport.Kept(id: set.name, code: MigrationNotice(set).code) }
    }
    trying("rows in quarantine") {
      report.quarantine = try vault.quarantineFiles().map { URL(fileURLWithPath: $0).lastPathComponent }
    }
  }

  private func visit(_ folder: String, depth: Int, _ body: (String, FileStatus) -> Void) throws {
    guard depth > 0, try files.status(of: folder)?.kind == .directory else { return }
    for name in try files.names(in: folder) {
      let path = PathText.join(folder, name)
      guard let status = try files.status(of: path) else { continue }
      body(path, status)
      if status.kind == .directory { try visit(path, depth: depth - 1, body) }
    }
  }

  private func add(_ path: String) {
    trying("a file") {
      guard let status = try files.status(of: path) else { return }
      let mode = String(status.mode, radix: 8)
      report.files.append(
        DiagnosticsReport.File(
          name: String(path.dropFirst(location.directory.count + (location.directory == "/" ? 0 : 1))),
          kind: status.kind.rawValue, bytes: status.size,
          mode: String(repeating: "0", count: max(0, 4 - mode.count)) + mode, isOwn: status.owner == geteuid(),
          links: status.linkCount, changed: Self.time(status.modificationTime)))
    }
  }

  // MARK: The store

  private var isHeld = false

  private func addStatus() {
    do throws(MigrationAssistantError) {
      let status = try assistant.status()
      if assistant.history.isKnown || status == .noStore || status == .inProgress { report.status = status.rawValue }
    } catch {
      report.status = "unreadable"
      if case .unreadableStore(let problem) = error, problem.problem == .inUse { isHeld = true }
      report.problems.append("the status: \(error.textWithoutValues)")
    }
  }

  /// Returns false if the database can't be read.
  private func addDatabase() -> Bool {
    // The status has already waited for a held store.
    guard report.status != StoreStatus.noStore.rawValue, !isHeld else { return false }
    do throws(StoreError) {
      let path = location.path
      // The body may be called a second time, so it starts with a new inspection.
      let inspection = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
        try DatabaseInspection(connection, path: path)
      }
      schema = inspection.schema
      report.database = inspection.database
      report.entities = inspection.entities
      report.tables = inspection.tables
      report.problems += inspection.problems
      if let metadata = inspection.metadata { add(metadata) }
      return true
    } catch {
      report.problems.append("the store: \(error.description)")
      return false
    }
  }

  private func add(_ metadata: StoreMetadata) {
    report.metadata = DiagnosticsReport.Metadata(
      identifier: metadata.identifier,
      versionChecksum: ManagedObjectModel.versionChecksum(of: metadata.versionHashes),
      versionHashes: metadata.versionHashes.mapValues(\.description),
      versionIdentifiers: metadata.versionIdentifiers.map { PlainText.line($0) },
      frameworkVersion: metadata.frameworkVersion,
      generation: metadata.generation, deferred: metadata.deferredMigration?.items.map { PlainText.line($0) } ?? [],
      otherKeys: metadata.otherValues.keys.ordered().map { PlainText.line($0) })
    let history = assistant.history
    versionName = assistant.versionName(of: metadata)
    model = versionName.flatMap { try? history.model(named: $0) }
    guard history.isKnown else { return }
    report.history = DiagnosticsReport.History(
      current: history.currentName, currentChecksum: history.current.versionChecksum(),
      versions: history.versionNames, storeVersion: versionName,
      nearest: versionName == nil
        ? history.nearestVersions(to: metadata.versionHashes, ofStoreAt: assistant.storeURL.path).map {
          "\($0.name): \($0.differingEntities.joined(separator: ", "))"
        } : [])
  }

  private func addSnapshot() {
    do {
      guard let snapshot = try assistant.modelController.snapshot() else { return }
      report.snapshot = DiagnosticsReport.Snapshot(
        checksum: snapshot.versionChecksum, archivedAt: Self.time(snapshot.archivedAt))
      report.system.application = snapshot.applicationVersion
    } catch {
      report.snapshot = DiagnosticsReport.Snapshot(problem: "\(error)")
    }
  }

  private func addFindings() {
    let candidates = assistant.archive.modelCandidates()
    trying("the check of the store") {
      let verified = try StoreVerification.report(onStoreAt: location.path, candidates: candidates)
      report.findings = verified.findings.map(Self.finding)
      report.modelSource = verified.isModelFit ? verified.modelSource?.description : nil
      if verified.isModelFit { model = verified.model }
    }
  }
}
