import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension StoreVerification {
  // MARK: Metadata

  func checkMetadata() {
    guard let table = actual.table(named: PhysicalName.metadataTable) else {
      addDamage(
        .missingMetadata,
        "The table \(PhysicalName.metadataTable) is missing: the model that made the store can't be determined.")
      return
    }
    let columns = [PhysicalName.version, PhysicalName.uuid, PhysicalName.propertyList]
    let missing = columns.filter { table.column(named: $0) == nil }
    guard missing.isEmpty else {
      addDamage(
        .invalidMetadata,
        "The table \(table.name) lacks the columns \(listed(missing)): the metadata can't be read.")
      return
    }
    let list = columns.map(quote).joined(separator: ", ")
    let rows = reading("the metadata") { connection throws(SQLiteError) in
      let number = connection.rowNumber(of: table.name, table.columns) ?? "1"
      return try connection.rows(
        "SELECT \(list) FROM \(quote(table.name)) ORDER BY \(number) LIMIT 3"
      )
    }
    guard let rows else { return }
    guard let row = rows.first else {
      addDamage(
        .missingMetadata,
        "There is no row of metadata: the model that made the store can't be determined.")
      return
    }
    if rows.count > 1 {
      addDamage(
        .severalMetadata,
        "There are several rows of metadata where one is expected: which model made the store is not certain. The first one"
          + " is used for the other checks.")
    }
    if row[0] != .integer(1) {
      add(.warning, .oddMetadata, "The row of metadata has another version than 1; Core Data writes 1.")
    }
    readMetadata(identifier: row[1], propertyList: row[2])
  }

  private func readMetadata(identifier: SQLiteValue, propertyList: SQLiteValue) {
    if identifier.text.map({ $0.isEmpty }) ?? true {
      addDamage(
        .invalidMetadata,
        "The store has no identifier: object identifiers that the app saved are invalid.")
    } else if let text = identifier.text, !Self.isIdentifier(text) {
      add(.warning, .oddMetadata, "The store's identifier is not a UUID in upper case, as Core Data writes it.")
    }
    guard let bytes = propertyList.blob else {
      addDamage(
        .invalidMetadata,
        "The metadata have no property list: the model that made the store can't be determined.")
      return
    }
    do throws(StoreError) {
      let metadata = try StoreMetadata(propertyList: bytes, identifier: identifier.text ?? "", path: path)
      report.metadata = metadata
      checkDigests(metadata)
    } catch {
      switch error.problem {
      case .missingVersionHashes:
        addDamage(
          .missingHashes,
          "The metadata have no version hashes: the model that made the store can't be determined, and no app opens it."
        )
      case .invalidMetadata(let reason):
        addDamage(.invalidMetadata, "The metadata can't be read: \(reason)")
      default:
        add(.error, .invalidMetadata, error.description)
      }
    }
  }

  private func checkDigests(_ metadata: StoreMetadata) {
    let digest = ManagedObjectModel.versionHashesDigest(of: metadata.versionHashes)
    if let stored = metadata.versionHashesDigest, stored != digest {
      add(
        .warning, .wrongDigest,
        "The digest of the version hashes is not that of the hashes beside it: one of the two was changed by hand or by a"
          + " program. The hashes are used; a migration rewrites both.")
    }
    let checksum = ManagedObjectModel.versionChecksum(of: metadata.versionHashes)
    if let stored = metadata.versionChecksum, stored != checksum {
      add(
        .warning, .wrongChecksum,
        "The model's checksum is not that of the version hashes beside it: one of the two was changed by hand or by a"
          + " program. The hashes are used; a migration rewrites both.")
    }
    if metadata.versionHashes.isEmpty {
      addDamage(.missingHashes, "The metadata name no entity.")
    }
    let type = metadata.otherValues[PhysicalName.storeTypeKey]?.stringValue
    if type != "SQLite" {
      add(
        .warning, .oddMetadata,
        "The store type in the metadata is \(type.map { "\"\($0)\"" } ?? "missing"); Core Data expects \"SQLite\".")
    }
    if metadata.frameworkVersion == 0 {
      add(.note, .oddMetadata, "The metadata lack the version of Core Data that wrote the store.")
    }
  }

  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default:
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
        }
      }
  }

  // MARK: The model

  func findModel(_ candidates: [StoreModelCandidate]) {
    var candidates = candidates
    if let cache = cachedModel() { candidates.append(cache) }
    var nearest: NearestModel?
    var fitting: [StoreModelCandidate] = []
    for candidate in candidates {
      guard let model = candidate.model else {
        let reason = candidate.problem ?? "it is damaged"
        add(
          .warning, candidate.source == .snapshot ? .damagedSnapshot : .differentModel,
          "\(Self.capitalized(candidate.source)) can't be read: \(reason) The store is used, and its data are not affected."
        )
        continue
      }
      guard let metadata = report.metadata else {
        prefer(NearestModel(model: model, source: candidate.source, differing: []), to: &nearest)
        continue
      }
      guard metadata.configuration(of: model, heldBy: actual) == nil else {
        fitting.append(candidate)
        continue
      }
      let differing = metadata.differingEntities(from: model)
      reportDifference(candidate.source, differing)
      prefer(NearestModel(model: model, source: candidate.source, differing: differing), to: &nearest)
    }
    let identifiers = report.metadata?.versionIdentifiers ?? []
    guard let chosen = VersionChoice.candidate(of: fitting, identifiers: identifiers), let model = chosen.model else {
      useNearest(nearest)
      return
    }
    (report.model, report.modelSource, report.isModelFit) = (model, chosen.source, true)
    report.configuration = report.metadata?.configuration(of: model, heldBy: actual) ?? nil
  }

  private func reportDifference(_ source: StoreModelCandidate.Source, _ differing: [String]) {
    let words =
      "\(counted(Int64(differing.count), "entity")) \(CountText.verb("differ", differing.count)) (\(listed(differing)))"
    switch source {
    case .snapshot:
      add(
        .warning, .differentSnapshot,
        "The snapshot beside the store is of another version: \(words). The store is used; the next launch of the app"
          + " replaces the snapshot.")
    case .cache:
      add(
        .warning, .differentModelCache,
        "The store's own copy of its model is of another version than its metadata: \(words). The metadata are used; give the"
          + " right model with --model.")
    case .file(let name):
      add(.warning, .differentModel, "The model \(name) is not the one that made the store: \(words).")
    }
  }

  /// A model that did not make the store.
  private struct NearestModel {
    let model: ManagedObjectModel
    let source: StoreModelCandidate.Source
    /// The entities whose version hashes differ.
    let differing: [String]
  }

  private func prefer(_ model: NearestModel, to nearest: inout NearestModel?) {
    if let nearest {
      let (count, known) = (model.differing.count, nearest.differing.count)
      guard count < known || count == known && actual.likeness(to: model.model) > actual.likeness(to: nearest.model)
      else { return }
    }
    nearest = model
  }

  private func useNearest(_ nearest: NearestModel?) {
    guard let nearest else {
      add(
        .warning, .unknownModel,
        "The model that made the store is unknown, so neither tables nor rows could be checked: give it with --model."
      )
      return
    }
    (report.model, report.modelSource) = (nearest.model, nearest.source)
    guard let metadata = report.metadata else {
      add(
        .note, .unknownModel,
        "Tables and rows are compared with \(nearest.source), which may not be the right model.")
      return
    }
    add(
      .error, .unknownModel,
      "No known model has the version hashes of the metadata: no app opens the store, and it can't be migrated until the"
        + " model is given with --model. Tables and rows are compared with the nearest, \(nearest.source).")
    let hashes = nearest.model.versionHashes()
    for name in nearest.differing {
      let what =
        metadata.versionHashes[name] == nil
        ? "is in the model and not in the metadata"
        : hashes[name] == nil
          ? "is in the metadata and not in the model" : "has another version hash in the metadata than in the model"
      add(.error, .differentHash, entity: name, "The entity \(name) \(what) (\(nearest.source)).")
    }
  }

  /// `nil` if there is none, or if its problem was reported.
  private func cachedModel() -> StoreModelCandidate? {
    guard actual.table(named: PhysicalName.modelCacheTable) != nil else {
      add(.note, .missingModelCache, "The store holds no copy of its model; it is complete without it.")
      return nil
    }
    let count = reading("the store's own copy of its model") { connection throws(SQLiteError) in
      try connection.rowCount(of: quote(PhysicalName.modelCacheTable))
    }
    if let count, count > 1 {
      add(.warning, .severalModelCaches, "The store holds \(count) copies of its model where one is expected.")
    }
    do throws(StoreError) {
      guard let read = try StoreModelCache.model(connection: connection, path: path) else {
        add(.note, .missingModelCache, "The store holds no copy of its model; it is complete without it.")
        return nil
      }
      return StoreModelCandidate(source: .cache, model: read.model)
    } catch {
      guard case .invalidModelCache(let reason) = error.problem else {
        add(.error, .damaged, error.description)
        return nil
      }
      add(
        .warning, .damagedModelCache,
        "The store's own copy of its model can't be read: \(reason) The data are not affected; Core Data writes a new copy"
          + " when it next opens the store with a changed model.")
      return nil
    }
  }

  private static func capitalized(_ source: StoreModelCandidate.Source) -> String {
    let text = source.description
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}
