import Foundation
import HeirloomFormats
package import HeirloomModel
import HeirloomStore
package import HeirloomVault

/// The one comparison of stores after a run: which content of a store another one lacks.
///
/// Values are compared byte by byte with their storage class, rows with the number of times that they are there, in
/// every table and column, whoever made it, in the app's keys of the metadata, and in external files by their content.
/// A row of the model is the same only with the same entity, the same key and the same values.
package struct StoreComparison {
  private let counterparts: StoreCounterparts
  private var store: ComparedStore { counterparts.store }

  private init(of store: ComparedStore, with other: ComparedStore) {
    counterparts = StoreCounterparts(of: store, in: other)
  }

  /// Compares two stores, each as it is at one instant; nothing is written.
  ///
  /// - Parameters:
  ///   - path: The file of the store whose content is looked for.
  ///   - models: Models that may be the store's, besides its own copy.
  ///   - other: The file of the other store.
  ///   - otherModels: The same for the other store.
  ///   - body: Asks the comparison; it may be called a second time.
  /// - Returns: The body's result; `nil` if the two can't be compared.
  /// - Throws: `StoreError` when one can't be read, or the body's error.
  package static func between<Value>(
    _ path: String, models: [ManagedObjectModel], and other: String, models otherModels: [ManagedObjectModel],
    _ body: (StoreComparison) throws -> Value?
  ) throws -> Value? {
    let contents = FileContentClasses()
    return try open(path, models, contents) { store in
      try open(other, otherModels, contents) { try body(StoreComparison(of: store, with: $0)) }
    }
  }

  private static func open<Value>(
    _ path: String, _ models: [ManagedObjectModel], _ contents: FileContentClasses,
    _ body: (ComparedStore) throws -> Value?
  ) throws -> Value? {
    var result: Result<Value?, any Error> = .success(nil)
    try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      do {
        try connection.execute("BEGIN")
        result = .success(
          try ComparedStore(connection, path: path, models: models, contents: contents).flatMap(body))
      } catch let error as SQLiteError {
        throw StoreError(error, path: path)
      } catch let error as StoreError {
        throw error
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  /// Returns all content of the store that the other one lacks; none if the other one has all of it.
  ///
  /// - Throws: `SQLiteError` if one of the stores can't be read.
  /// - Complexity: O(*n*) in the rows, and in the bytes of external files that are not the same files.
  package func missing() throws -> [SoleContent] {
    var found: [SoleContent] = []
    for table in store.schema.tables {
      guard let rows = counterparts.rows(of: table) else { continue }
      let missing = try rows.own.missing(in: rows.others)
      if case .links(let entity, let relationship) = table.kind {
        found.append(sole("links", entity, relationship, missing.values.reduce(0, +)))
        continue
      }
      for entity in store.schema.entities where entity.table == table.name {
        found.append(sole("objects", entity.name, nil, missing[Int64(entity.number)] ?? 0))
      }
      // Rows of no entity that the model knows are rows too.
      let numbers = Set(store.schema.entities.filter { $0.table == table.name }.map { Int64($0.number) })
      let strangers = missing.filter { $0.key.map { !numbers.contains($0) } ?? true }
      found.append(sole("objects", table.name, nil, strangers.values.reduce(0, +)))
    }
    for table in store.otherTables {
      let rows = counterparts.rows(of: table)
      found.append(sole("objects", table.name, nil, try rows.own.missing(in: rows.others).values.reduce(0, +)))
    }
    for (table, key, known) in Self.bookkeeping {
      guard let rows = counterparts.rows(ofBookkeeping: table, key: key, known: known) else { continue }
      found.append(sole("objects", table, nil, try rows.own.missing(in: rows.others).values.reduce(0, +)))
    }
    let held = counterparts.other.metadataValues
    for (key, value) in store.metadataValues.ordered(by: \.key) where held[key] != value {
      found.append(sole("values", PhysicalName.metadataTable, key, 1))
    }
    found.append(
      sole("values", SupportFolder.dataName, nil, store.files.missing(in: counterparts.other.files)))
    return found.filter { $0.rows > 0 }
  }

  private func sole(_ kind: String, _ entity: String, _ property: String?, _ rows: Int64) -> SoleContent {
    SoleContent(kind: kind, entity: entity, property: property, rows: rows)
  }

  private static let bookkeeping: [(table: String, key: String?, known: Set<String>)] = [
    (
      PhysicalName.primaryKeyTable, PhysicalName.name,
      [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum]
    ),
    (
      PhysicalName.metadataTable, PhysicalName.version,
      [PhysicalName.version, PhysicalName.uuid, PhysicalName.propertyList]
    ),
    (PhysicalName.modelCacheTable, nil, [PhysicalName.content]),
  ]

  // MARK: Lost content

  /// Returns what is missing in the other store of the content that a migration lost.
  ///
  /// - Parameter contents: The content that the migration from the store lost.
  /// - Returns: The content with the rows that the other store lacks; `nil` if some can't be found in the store.
  /// - Throws: `SQLiteError` if one of the stores can't be read.
  func missing(of contents: [SoleContent]) throws -> [SoleContent]? {
    var found: [SoleContent] = []
    for content in contents {
      guard let (table, column, entities) = place(of: content), var rows = counterparts.rows(of: table) else {
        return nil
      }
      let conditions = [
        column.map { "r.\(quote($0)) IS NOT NULL" },
        entities.map { "r.\(quote(PhysicalName.entity)) BETWEEN \($0.lowerBound) AND \($0.upperBound)" },
      ].compactMap(\.self)
      rows.own.condition = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
      let missing = try rows.own.missing(in: rows.others).values.reduce(0, +)
      found.append(sole(content.kind, content.entity, content.property, min(missing, content.rows)))
    }
    return found.filter { $0.rows > 0 }
  }

  /// Returns the table that holds content, the column whose value counts, and the entities whose rows do.
  private func place(of content: SoleContent) -> (table: PhysicalTable, column: String?, entities: ClosedRange<Int>?)? {
    let schema = store.schema
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
    // A column that no model knows may be one of a table of links.
    if columns.isEmpty, own.column(named: property) == nil { return nil }
    guard columns.count == 1 else { return (own, nil, entity.treeNumbers) }
    return (own, columns[0].name, entity.treeNumbers)
  }
}
