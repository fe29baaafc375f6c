import Foundation
import HeirloomFormats
package import HeirloomModel
import HeirloomStore
package import HeirloomVault

/// The comparison of two stores after a run: it finds the content of one store that the other one lacks.
///
/// Values are compared byte by byte with their storage class, and rows with their number of duplicates. This covers
/// every table and column, also those of other programs, the app's metadata keys, and external files by content.
/// A row of the model is equal only to one with the same entity, the same key and the same values.
package struct StoreComparison {
  private let counterparts: StoreCounterparts
  private var store: ComparedStore { counterparts.store }

  private init?(of store: ComparedStore, with other: ComparedStore, isMigrated: Bool) {
    // The same text has different bytes in different encodings.
    guard store.encoding == other.encoding else { return nil }
    counterparts = StoreCounterparts(of: store, in: other, isMigrated: isMigrated)
  }

  /// `isMigrated` is true if a migration built the first store from the content of the other one:
  /// values that inference fills in are then not its own.
  ///
  /// `body` may be called a second time; `nil` if the two can't be compared.
  package static func between<Value>(
    _ path: String, models: [ManagedObjectModel], and other: String, models otherModels: [ManagedObjectModel],
    isMigrated: Bool = false, _ body: (StoreComparison) throws -> Value?
  ) throws -> Value? {
    let contents = FileContentClasses()
    return try open(path, models, contents) { store in
      try open(other, otherModels, contents) { other in
        try StoreComparison(of: store, with: other, isMigrated: isMigrated).flatMap(body)
      }
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

  /// O(*n*) in the rows, and in the bytes of external files that are not the same files.
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
      // Rows of entities that the model doesn't have are counted under the table's name.
      let numbers = Set(store.schema.entities.filter { $0.table == table.name }.map { Int64($0.number) })
      let strangers = missing.filter { $0.key.map { !numbers.contains($0) } ?? true }
      found.append(sole("objects", table.name, nil, strangers.values.reduce(0, +)))
    }
    for table in store.otherTables {
      let rows = counterparts.rows(of: table)
      found.append(sole("objects", table.name, nil, try rows.own.missing(in: rows.others).values.reduce(0, +)))
    }
    for (table, key, known) in ActualSchema.bookkeeping {
      for rows in counterparts.rows(ofBookkeeping: table, key: key, known: known) {
        found.append(sole("objects", table, nil, try rows.own.missing(in: rows.others).values.reduce(0, +)))
      }
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
}
