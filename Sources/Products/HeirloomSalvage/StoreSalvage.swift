public import Foundation
import HeirloomFormats
public import HeirloomModel
package import HeirloomStore
package import HeirloomVault

/// A salvage, which copies everything readable from a damaged store into a new one.
///
/// The damaged store is copied and never opened itself: neither its files nor their folder change. The new store is
/// built in a private folder beside its destination, and moved there only when it is complete. Use it while no app has
/// the damaged store open.
public struct StoreSalvage {
  /// The damaged store.
  public let storeURL: URL
  /// True to read also pages whose rows may have been deleted.
  ///
  /// Core Data's stores show which rows were deleted, unless they are badly damaged. Deleted rows may come back.
  public var includesUncertainPages: Bool = false
  /// A closure that returns true to cancel; there is no new store then, and the damaged one is unchanged.
  public var isCancelled: @Sendable () -> Bool = { false }

  private let candidates: [StoreModelCandidate]
  private let files: any FileOperations

  /// Creates the salvage of a store.
  ///
  /// - Parameters:
  ///   - storeURL: The damaged store.
  ///   - models: The app's models, the likeliest first. The snapshot beside the store and the model in its model cache
  ///     are found automatically.
  public init(storeURL: URL, models: [ManagedObjectModel] = []) {
    let candidates = models.map { StoreModelCandidate(source: .file("that was given"), model: $0, isGiven: true) }
    self.init(storeURL: storeURL, candidates: candidates)
  }

  package init(
    storeURL: URL, candidates: [StoreModelCandidate], files: any FileOperations = POSIXFileOperations()
  ) {
    self.storeURL = storeURL
    self.candidates = candidates
    self.files = files
  }

  /// Salvages the store.
  ///
  /// - Parameter outputURL: The new store's file, which must not exist; its folder must exist.
  /// - Returns: The report on rows that were read and lost. The new store can be opened.
  /// - Throws: ``SalvageError``; there is no new store then.
  public func run(to outputURL: URL) throws(SalvageError) -> SalvageReport {
    let store = try location(of: storeURL.path)
    let output = try outputLocation(outputURL.path, besides: store)
    try checkRoom(for: store, in: output.directory)
    SalvageLeftovers(files: files).remove(in: output.directory)
    return try salvaged(store, output) { (workspace, report, parts) throws(SalvageError) in
      if workspace.isLogDoubtful {
        // Without the log there may be no store at all.
        let older = try? salvaged(store, output, readsLog: false) { (older, olderReport, parts) throws(SalvageError) in
          olderReport.rowCount > report.rowCount ? try place(parts, olderReport, store, output, older) : nil
        }
        if let placed = older ?? nil { return placed }
      }
      return try place(parts, report, store, output, workspace)
    }
  }

  /// The folder of the new store exists only while the body runs.
  private func salvaged<Value>(
    _ store: StoreLocation, _ output: StoreLocation, readsLog: Bool = true,
    _ body: (SalvageWorkspace, SalvageReport, Parts) throws(SalvageError) -> Value
  ) throws(SalvageError) -> Value {
    let workspace: SalvageWorkspace
    do throws(FileError) {
      workspace = try SalvageWorkspace(for: store, in: output.directory, readsLog: readsLog, files: files)
    } catch {
      throw SalvageError(storePath: store.path, problem: .failed(reason: error.description))
    }
    defer { try? workspace.remove() }
    let lock = SalvageLeftovers(files: files).lock(workspace.folder)
    defer { lock?.close() }
    try workspace.prepare()
    try checkCancellation(store)
    let (report, parts) = try salvageErrors(store.path) { try build(store, output, workspace) }
    return try body(workspace, report, parts)
  }

  private func place(
    _ parts: Parts, _ report: SalvageReport, _ store: StoreLocation, _ output: StoreLocation,
    _ workspace: SalvageWorkspace
  ) throws(SalvageError) -> SalvageReport {
    // A cancelled statement may have looked like damage, so the result is discarded.
    try checkCancellation(store)
    try salvageErrors(store.path) { try install(parts, at: output, workspace) }
    return report
  }

  private func checkCancellation(_ store: StoreLocation) throws(SalvageError) {
    guard !isCancelled() else { throw SalvageError(storePath: store.path, problem: .cancelled) }
  }

  // MARK: Before

  private func location(of path: String) throws(SalvageError) -> StoreLocation {
    let location: StoreLocation
    let status: FileStatus?
    do {
      location = try StoreLocation(resolving: path, files: files)
      status = try files.status(of: location.path)
    } catch {
      if case .notAFile(_, let found)? = error as? VaultError {
        throw SalvageError(storePath: path, problem: .notFile(found: found))
      }
      throw SalvageError(
        storePath: path, problem: (try? files.status(of: path)) == nil ? .missing : .notFile(found: "folder"))
    }
    guard status == nil || status?.kind == .regular else {
      throw SalvageError(storePath: path, problem: .notFile(found: status?.kind.rawValue ?? ""))
    }
    // A store without its main file may still have content in its log.
    if status?.size ?? 0 == 0, ((try? files.status(of: location.path + "-wal"))?.size ?? 0) == 0 {
      throw SalvageError(storePath: path, problem: status == nil ? .missing : .empty)
    }
    return location
  }

  private func outputLocation(_ path: String, besides store: StoreLocation) throws(SalvageError) -> StoreLocation {
    try salvageErrors(store.path) {
      // A dangling symbolic link counts as an existing file.
      guard try files.status(of: path) == nil else {
        let other = try? files.status(of: files.resolvePath(path))
        let isSame = try other?.identity == files.status(of: store.path)?.identity
        throw SalvageError(
          storePath: store.path, problem: isSame ? .sameFile(output: path) : .outputExists(path: path))
      }
      let output = try StoreLocation(resolving: path, files: files)
      guard output.path != store.path, !store.sideFiles.contains(output.path), output.support != store.support else {
        throw SalvageError(storePath: store.path, problem: .sameFile(output: path))
      }
      for other in output.sideFiles + [output.support, Self.cutsPath(of: output)]
      where try files.status(of: other) != nil {
        throw SalvageError(storePath: store.path, problem: .outputExists(path: other))
      }
      try files.checkWritable(output.directory)
      return output
    }
  }

  private static func cutsPath(of output: StoreLocation) -> String { output.path + ".cuts.jsonl" }

  private func checkRoom(for store: StoreLocation, in folder: String) throws(SalvageError) {
    try salvageErrors(store.path) {
      var size: Int64 = 1 << 20
      for suffix in ["", "-wal", "-journal"] { size &+= try files.status(of: store.path + suffix)?.size ?? 0 }
      // The space is needed for the copy, and for the new store with its indexes and files.
      let needed = size &* 2 &+ size / 4 &+ externalByteCount(of: store)
      let available = Int64(clamping: try files.volume(of: folder).availableBytes)
      guard available >= needed else {
        throw SalvageError(
          storePath: store.path, problem: .notEnoughSpace(folder: folder, needed: needed, available: available))
      }
    }
  }

  /// Files whose size can't be read count as 0.
  private func externalByteCount(of store: StoreLocation) -> Int64 {
    let support = (try? files.resolvePath(store.support)) ?? store.support
    let folder = PathText.join(support, "_EXTERNAL_DATA")
    return ((try? files.names(in: folder)) ?? []).reduce(0) { sum, name in
      let status = try? files.status(of: PathText.join(folder, name))
      return sum &+ (status?.size ?? 0)
    }
  }

  // MARK: Building

  /// The files to move to their destinations at the end.
  private struct Parts {
    let store: String
    let support: String?
    let cuts: String?
  }

  private func build(
    _ store: StoreLocation, _ output: StoreLocation, _ workspace: SalvageWorkspace
  ) throws -> (SalvageReport, Parts) {
    let source = try SalvageSource(workspace, includesUncertainPages: includesUncertainPages)
    let metadata = source.metadata(path: store.path)
    let choice = try choose(for: source, metadata, store)
    let configuration = metadata.flatMap { $0.configuration(of: choice.model, heldBy: source.actual) } ?? nil
    let schema = PhysicalSchema(model: choice.model, configuration: configuration, actual: source.actual)
    try checkCancellation(store)
    // Without metadata, the model's entity numbers may differ from the store's.
    let numbers = metadata != nil && choice.isFit ? nil : Self.numbers(of: source, schema)
    var report = report(of: source, choice, hasMetadata: metadata != nil, workspace, store, output)
    report.leftOut = try source.recognize(schema, numbers: numbers, isOwn: choice.isFit)
    let damaged = try files.hold(files.status(of: store.path) == nil ? store.path + "-wal" : store.path)
    defer { damaged.close() }
    // Files made in the folder have its protection class from the start.
    _ = try damaged.giveProtection(to: workspace.folder)
    let folder = PathText.join(workspace.folder, "new")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    let path = PathText.join(folder, output.name)
    // The owner is kept even if the superuser salvages: the app must be able to use the store.
    let owner = try damaged.status()
    try files.makeEmptyFile(path, attributes: FileAttributes(mode: 0o600, owner: owner.owner, group: owner.group))
    let writer = try SalvageWriter(
      path: path, schema: schema, source: source, report: report, entityNumbers: numbers)
    try writer.connection.interrupt(every: 10_000, if: isCancelled)
    for table in schema.tables {
      try writer.copyRows(of: table)
      try checkCancellation(store)
    }
    if let inspection = source.inspection { writer.report.add(inspection) }
    // Pages with rows that may be deleted are reported, with the option that reads them.
    guard writer.report.tables.contains(where: \.isPresent) || writer.report.uncertainPageCount > 0 else {
      throw SalvageError(storePath: store.path, problem: .notStore)
    }
    try writer.repair()
    let hasFiles = try writer.copyFiles(
      from: supportFolder(of: store, &writer.report), to: PathText.join(folder, output.supportName), files: files)
    try writer.copyOthers()
    var written = metadata ?? StoreMetadata(model: choice.model)
    if !choice.isFit { written.adopt(choice.model) }
    written.deferredMigration = nil
    try writer.finish(written)
    let left = try damaged.giveAttributes(to: path)
    try files.synchronizeFile(path)
    report = writer.report
    report.note(left, of: output.path)
    var cuts: String?
    if !writer.cuts.bytes.isEmpty {
      let name = PathText.join(workspace.folder, "cuts")
      try files.writeNewFile(name, bytes: writer.cuts.bytes, attributes: owner.attributes)
      cuts = name
      report.cutsPath = Self.cutsPath(of: output)
    }
    if writer.cuts.omittedCount > 0 {
      report.notes.append("\(CountText.counted(writer.cuts.omittedCount, "cut")) found no room in the list of cuts.")
    }
    return (
      report, Parts(store: path, support: hasFiles ? PathText.join(folder, output.supportName) : nil, cuts: cuts)
    )
  }

  private func report(
    of source: SalvageSource, _ choice: Choice, hasMetadata: Bool, _ workspace: SalvageWorkspace,
    _ store: StoreLocation, _ output: StoreLocation
  ) -> SalvageReport {
    var report = SalvageReport(storePath: store.path, outputPath: output.path)
    report.modelSource = choice.source.description
    report.isModelFit = hasMetadata ? choice.isFit : nil
    report.isStructureSound = source.isSound
    report.pageCount = source.image.pageCount
    report.notes = workspace.notes
    report.mayLackContent = workspace.mayLackContent
    if !hasMetadata {
      report.notes.append("The store's metadata can't be read: the new store has an identifier of its own.")
    } else if !choice.isFit {
      report.notes.append(
        "The model is not the one that made the store: only the tables and columns that both have were read."
      )
    }
    return report
  }

  /// An app may have replaced the folder with a symbolic link.
  private func supportFolder(of store: StoreLocation, _ report: inout SalvageReport) -> SupportFolder {
    do throws(FileError) {
      return try StoreVault(store, files: files).supportFolder()
    } catch {
      report.notes.append("The files of external data were left out: \(error.description).")
      return SupportFolder(path: store.support)
    }
  }

  /// By the store's numbers, matched by entity names; `nil` if no entity can be read.
  private static func numbers(of source: SalvageSource, _ schema: PhysicalSchema) -> [Int64: Int64]? {
    let rows = source.entityRows().filter { $0.number < 16_000 }
    guard !rows.isEmpty else { return nil }
    var numbers: [Int64: Int64] = [:]
    for row in rows { numbers[row.number] = schema.entity(named: row.name).map { Int64($0.number) } }
    // Entity rows may be lost: if all others agree, the missing ones are assumed to agree.
    if numbers.allSatisfy({ $0.key == $0.value }) {
      let told = Set(rows.map(\.number))
      for number in schema.entities.map({ Int64($0.number) }) where !told.contains(number) { numbers[number] = number }
    }
    return numbers
  }

  // MARK: The model

  private struct Choice {
    let model: ManagedObjectModel
    let source: StoreModelCandidate.Source
    let isFit: Bool
  }

  private func choose(
    for source: SalvageSource, _ metadata: StoreMetadata?, _ store: StoreLocation
  ) throws(SalvageError) -> Choice {
    var known = candidates
    // A kept store's snapshot is in its own folder.
    let kept = StoreLocation.keptFolder(of: store.path).map { _ in
      PathText.join(store.directory, StoreLocation.snapshotName)
    }
    for path in [store.snapshot, kept].compactMap(\.self) {
      guard let bytes = try? SnapshotFile(path: path, files: files).read(),
        let snapshot = try? ModelSnapshot(bytes: bytes)
      else { continue }
      known.append(StoreModelCandidate(source: .snapshot, model: snapshot.model))
    }
    if let cached = source.cachedModel() { known.append(StoreModelCandidate(source: .cache, model: cached)) }
    if let metadata {
      let fitting = known.filter { candidate in
        candidate.model.flatMap { metadata.configuration(of: $0, heldBy: source.actual) } != nil
      }
      let chosen = VersionChoice.candidate(of: fitting, identifiers: metadata.versionIdentifiers)
      if let chosen, let model = chosen.model { return Choice(model: model, source: chosen.source, isFit: true) }
    }
    var best: (likeness: Int, choice: Choice)?
    for candidate in known {
      guard let model = candidate.model else { continue }
      let likeness = source.actual.likeness(to: model)
      if best.map({ likeness > $0.likeness }) ?? true {
        best = (likeness, Choice(model: model, source: candidate.source, isFit: metadata == nil))
      }
    }
    guard let best else { throw SalvageError(storePath: store.path, problem: .noModel) }
    return best.choice
  }

  // MARK: Putting it in place

  private func install(_ parts: Parts, at output: StoreLocation, _ workspace: SalvageWorkspace) throws {
    for side in StoreLocation.sideSuffixes where try files.status(of: parts.store + side) != nil {
      throw SalvageError(storePath: storeURL.path, problem: .failed(reason: "the new store could not be closed."))
    }
    try files.synchronizeDirectory(PathText.join(workspace.folder, "new"))
    var placed: [String] = []
    do {
      for (part, place) in [(parts.support, output.support), (parts.cuts, Self.cutsPath(of: output))] {
        guard let part else { continue }
        guard try files.status(of: place) == nil else {
          throw SalvageError(storePath: storeURL.path, problem: .outputExists(path: place))
        }
        try files.rename(part, to: place)
        placed.append(place)
      }
      try files.synchronizeDirectory(output.directory)
      try files.linkOrMove(parts.store, to: output.path)
    } catch {
      for place in placed.reversed() { try? FolderTree(files: files).remove(place) }
      throw error
    }
    try files.synchronizeDirectory(output.directory)
    // A second name would prevent an app from migrating the store; after a rename there is none.
    try? files.unlink(parts.store)
  }
}

extension SalvageReport {
  fileprivate mutating func note(_ attributes: PassedOver, of path: String) {
    guard let first = attributes.first else { return }
    notes.append(
      "\(path) could not be given \(CountText.counted(attributes.count, "attribute")) of the original file, such as"
        + " \(first).")
  }

  fileprivate mutating func add(_ inspection: PageInspection) {
    unreadablePages = Array(inspection.unreadablePages.sorted().prefix(100))
    unreadablePageCount = inspection.unreadablePages.count
    uncertainPageCount = inspection.uncertainPages
    unassignedPageCount = inspection.unassignedPages.count
    if inspection.unreadableIndexPages > 0 {
      notes.append(
        "\(CountText.counted(inspection.unreadableIndexPages, "index page")) can't be read; no row is there, and the"
          + " indexes were rebuilt."
      )
    }
    if inspection.emptyEnds.count > 0 {
      notes.append(
        "The last page of \(CountText.counted(inspection.emptyEnds.count, "value")) of bytes holds only zeros, which"
          + " were accepted as part of the value."
      )
    }
  }
}
