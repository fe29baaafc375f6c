import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// A search for the content of a pinned version that no other store holds.
///
/// A row is held where a row of the same key has the same values. Keys mean the same objects only in stores of one
/// version. For a replaced store, all of whose rows are asked about, equal content is enough.
struct SoleContentSearch {
  private static let name = "version"
  private let connection: Connection
  private let schema: PhysicalSchema
  private let manifest: PreviousVersionManifest
  /// The app's own tables in the version.
  private let foreign: [ActualTable]
  /// The columns of the other stores' tables, by the names under which the stores are attached.
  private var others: [(name: String, tables: [String: Set<String>])] = []

  /// Opens a version and the stores that may hold the same; `nil` if none can, or if the version doesn't say what it is.
  init?(in version: PreviousVersionFiles, besides paths: [String]) throws {
    guard let path = version.storePath, let manifest = version.manifest, manifest.alone?.unlistedCount ?? 0 == 0 else {
      return nil
    }
    let metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    let holders = paths.filter { path in
      let hashes = try? StoreMetadata(contentsOf: URL(fileURLWithPath: path)).versionHashes
      return manifest.isReplaced || hashes == metadata.versionHashes
    }
    guard !holders.isEmpty else { return nil }
    let snapshot = URL(fileURLWithPath: version.path).appendingPathComponent(StoreLocation.snapshotName)
    let stored = try? ModelController(snapshotURL: snapshot).snapshot()?.model
    guard let model = try stored ?? StoreModelCache.model(inStoreAt: URL(fileURLWithPath: path)),
      model.versionHashes() == metadata.versionHashes
    else { return nil }
    connection = try Connection(path: "", mode: .memory, options: .inspecting)
    self.manifest = manifest
    try connection.attach(path: path, as: Self.name, mode: .readOnly)
    let actual = try ActualSchema(of: connection, database: Self.name)
    schema = PhysicalSchema(
      model: model, configuration: metadata.configuration(of: model, heldBy: actual) ?? nil, actual: actual)
    foreign = actual.ownership(under: schema).filter { $0.ownership == .foreign && $0.object.kind == .table }
      .compactMap { actual.table(named: $0.object.name) }
    guard !manifest.isReplaced || !foreign.contains(where: \.isVirtual) else { return nil }
    for path in holders {
      let name = "other\(others.count)"
      // A store in WAL mode can't be read without its side files, which reading makes.
      try connection.attach(path: path, as: name)
      let tables = try ActualSchema(of: connection, database: name).tables.map { table in
        (table.name, Set(table.columns.map(\.name)))
      }
      others.append((name, Dictionary(tables, uniquingKeysWith: { first, _ in first })))
    }
  }

  /// Returns the content that the version alone holds.
  ///
  /// - Complexity: O(*n* · *m*) in the rows and the other stores.
  func contents() throws -> [SoleContent] {
    var found: [SoleContent] = []
    for content in manifest.isReplaced ? everything : manifest.alone?.items ?? [] {
      guard let (table, column, entity) = place(of: content) else {
        found.append(content)
        continue
      }
      let rows = try soleRows(in: table, having: column, of: entity)
      guard rows > 0 else { continue }
      found.append(
        SoleContent(
          kind: content.kind, entity: content.entity, property: content.property,
          rows: manifest.isReplaced ? rows : min(rows, content.rows)))
    }
    guard manifest.isReplaced else { return found }
    var tables = try foreign.map { ($0.name, try foreignRows(in: $0)) }
    // Rows of no entity that the model knows are rows too.
    if found.isEmpty { tables += try schema.tables.map { ($0.name, try soleRows(in: $0, having: nil, of: nil)) } }
    return found
      + tables.filter { $0.1 > 0 }.map { SoleContent(kind: "objects", entity: $0.0, property: nil, rows: $0.1) }
  }

  private func foreignRows(in table: ActualTable) throws(SQLiteError) -> Int64 {
    let columns = table.columns.map(\.name)
    let names = others.filter { $0.tables[table.name]?.isSuperset(of: columns) ?? false }.map(\.name)
    let list = columns.map(quote).joined(separator: ", ")
    let rows = ([Self.name] + names).map { "SELECT \(list) FROM \(quote($0)).\(quote(table.name))" }
    return try connection.firstInteger("SELECT COUNT(*) FROM (\(rows.joined(separator: " EXCEPT ")))") ?? 0
  }

  /// The content of a whole store, with no rows counted: the objects, and links that are in no object's row.
  private var everything: [SoleContent] {
    schema.entities.filter { !$0.isAbstract }.map {
      SoleContent(kind: "objects", entity: $0.name, property: nil, rows: 0)
    }
      + schema.tables.compactMap { table in
        guard case .links(let entity, let relationship) = table.kind else { return nil }
        return SoleContent(kind: "links", entity: entity, property: relationship, rows: 0)
      }
  }

  /// Returns the table that holds content, the column whose value counts, and the entities whose rows do.
  private func place(of content: SoleContent) -> (table: PhysicalTable, column: String?, entities: ClosedRange<Int>?)? {
    guard let entity = schema.entity(named: content.entity), let own = schema.table(named: entity.table) else {
      return nil
    }
    guard let property = content.property else { return (own, nil, entity.number...entity.number) }
    switch schema.storage(ofRelationship: property, in: entity.name) {
    case .key(_, let column, _): return (own, column, entity.treeNumbers)
    case .inverseKey(let table, let column, _, _), .inverselessKey(let table, let column, _):
      return schema.table(named: table).map { ($0, column, nil) }
    case .join(let table, _, _, _): return schema.table(named: table).map { ($0, nil, nil) }
    case nil: break
    }
    let path = property.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    let columns = schema.columns(ofAttribute: path.first ?? "", in: entity.name).filter { $0.path.starts(with: path) }
    guard columns.count == 1 else { return (own, nil, entity.treeNumbers) }
    return (own, columns[0].name, entity.treeNumbers)
  }

  private func soleRows(
    in table: PhysicalTable, having column: String?, of entities: ClosedRange<Int>?
  ) throws(SQLiteError) -> Int64 {
    let quoted = quote(table.name)
    var conditions = [
      column.map { "r.\(quote($0)) IS NOT NULL" },
      entities.map { "r.\(PhysicalName.entity) BETWEEN \($0.lowerBound) AND \($0.upperBound)" },
    ].compactMap(\.self)
    let values = table.columns.filter { column in
      switch column.role {
      case .entity, .optimisticLock, .keyEntity: false
      default: true
      }
    }.map(\.name)
    for other in others {
      guard let columns = other.tables[table.name] else { continue }
      let equal = values.map { name in
        columns.contains(name) ? "o.\(quote(name)) IS r.\(quote(name))" : "r.\(quote(name)) IS NULL"
      }
      conditions.append(
        "NOT EXISTS (SELECT 1 FROM \(quote(other.name)).\(quoted) AS o WHERE \(equal.joined(separator: " AND ")))")
    }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    return try connection.firstInteger("SELECT COUNT(*) FROM \(quote(Self.name)).\(quoted) AS r\(filter)") ?? 0
  }
}

extension MigrationAssistant {
  /// Has pinned versions say what they alone hold, and releases those whose content other stores have.
  ///
  /// The oldest is asked first, so that the newest of equal ones stays. One that can't be compared stays as it is.
  ///
  /// - Returns: What is known of a version afterwards.
  func revisingPins(around kept: PreviousVersionFiles?, in vault: StoreVault) -> PreviousVersion? {
    var pinned = ((try? vault.previousVersions()) ?? []).filter { $0.manifest?.isPinned == true }
    for version in pinned {
      let others = [vault.location.path] + pinned.filter { $0 != version }.compactMap(\.storePath)
      guard let search = try? SoleContentSearch(in: version, besides: others), let contents = try? search.contents(),
        (try? vault.revise(version.name.text, alone: contents)) != nil
      else { continue }
      if contents.isEmpty { pinned.removeAll { $0 == version } }
    }
    return kept.map { kept in PreviousVersion((try? vault.findVersion(kept.name.text)) ?? kept) }
  }
}
