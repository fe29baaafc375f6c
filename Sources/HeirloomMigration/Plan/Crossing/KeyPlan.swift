import HeirloomModel
import HeirloomStore

/// The primary keys that objects have in the destination.
///
/// Keys are unique within an entity tree. If several source trees come under one root, one of them
/// keeps its keys; the others' are moved above all taken ones.
package struct KeyPlan {
  private struct Move {
    let offset: Int64
    let warning: String
  }

  /// The highest key that counts as assigned, by the destination's root entity.
  package private(set) var highest: [String: Int64] = [:]
  /// Of deleted objects, and of objects made one by one: keys that must not be assigned again.
  private var keptHighest: [String: Int64] = [:]
  private var moves: [[String]: Move] = [:]
  private var corrections: Set<String> = []

  /// Throws ``MigrationError/storeContradictsModel(reason:)`` if no free keys are left.
  init(
    trees: [TreeRoute], keeping kept: [(source: String, destination: String)] = [], source: PhysicalSchema,
    counts: StoreCounts, connection: Connection
  ) throws {
    let stored = try Self.storedMaximums(connection: connection)
    /// Another program may have added rows, or deleted the record.
    func highestKey(of entity: PhysicalEntity) throws -> Int64 {
      let (record, found) = (
        stored[Int64(entity.number)], try Self.highestKey(in: entity.table, connection: connection)
      )
      if record ?? -1 < found {
        corrections.insert(entity.words(ofRecord: record, highest: found))
      }
      return max(record ?? 0, found)
    }
    for roots in kept {
      guard let entity = source.entity(named: roots.source) else { continue }
      let own = try highestKey(of: entity)
      keptHighest[roots.destination] = max(keptHighest[roots.destination] ?? 0, own)
    }
    defer { highest.merge(keptHighest) { max($0, $1) } }
    func rowCount(of tree: TreeRoute) -> Int64 {
      tree.routes.reduce(Int64(0)) { $0 + counts.byEntity[$1.source, default: 0] }
    }
    // History and CloudKit may still refer to the deleted objects of an empty tree: their keys aren't reused.
    for tree in trees where rowCount(of: tree) == 0 {
      guard let entity = tree.sourceRoot.flatMap(source.entity) else { continue }
      let own = try highestKey(of: entity)
      keptHighest[tree.destinationRoot] = max(keptHighest[tree.destinationRoot] ?? 0, own)
    }
    for tree in trees {
      guard let root = tree.sourceRoot, let entity = source.entity(named: root) else { continue }
      let own = try highestKey(of: entity)
      let rows = rowCount(of: tree)
      guard let known = highest[tree.destinationRoot] else {
        highest[tree.destinationRoot] = own
        continue
      }
      guard rows > 0 else { continue }
      let isTaken = trees.prefix { $0.sourceRoot != root || $0.destinationRoot != tree.destinationRoot }.contains {
        $0.destinationRoot == tree.destinationRoot && $0.routes.contains { counts.byEntity[$0.source, default: 0] > 0 }
      }
      guard isTaken else {
        highest[tree.destinationRoot] = max(known, own)
        continue
      }
      let taken = max(known, keptHighest[tree.destinationRoot] ?? 0)
      // Core Data counts from 1, but another program may have written lower keys.
      let lowest = try Self.lowestKey(in: entity.table, connection: connection)
      let (room, isTooLow) = Int64(1).subtractingReportingOverflow(min(lowest, 1))
      let (offset, isTooHigh) = taken.addingReportingOverflow(room)
      let (sum, overflows) = offset.addingReportingOverflow(own)
      guard !isTooLow, !isTooHigh, !overflows else {
        throw MigrationError.storeContradictsModel(
          reason: "the keys of \(tree.destinationRoot) go up to \(taken) and those of \(root) from \(lowest) to \(own):"
            + " one table has no free keys for both")
      }
      highest[tree.destinationRoot] = sum
      guard offset > 0 else { continue }
      let names = tree.routes.map { "\"\($0.source)\"" }.joined(separator: ", ")
      moves[[root, tree.destinationRoot]] = Move(
        offset: offset,
        warning:
          "\(rows) objects of \(names) move to the table of \"\(tree.destinationRoot)\", where some of their keys are"
          + " taken: \(offset) is added to each key; persistent history and CloudKit mirroring are updated, URIs that the"
          + " app stored and the app's own tables are not")
    }
  }

  package var warnings: [String] {
    corrections.ordered() + moves.ordered { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value.warning)
  }

  package func moved(_ key: String, from sourceRoot: String, to destinationRoot: String) -> String {
    let offset = offset(from: sourceRoot, to: destinationRoot)
    return offset == 0 ? key : "\(key) + \(offset)"
  }

  package func offset(from sourceRoot: String, to destinationRoot: String) -> Int64 {
    moves[[sourceRoot, destinationRoot]]?.offset ?? 0
  }

  private static func highestKey(in table: String, connection: Connection) throws(SQLiteError) -> Int64 {
    return try connection.firstInteger(
      "SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(SchemaName.rows(of: table))") ?? 0
  }

  private static func lowestKey(in table: String, connection: Connection) throws(SQLiteError) -> Int64 {
    return try connection.firstInteger(
      "SELECT MIN(\(quote(PhysicalName.primaryKey))) FROM \(SchemaName.rows(of: table))") ?? 1
  }

  private static func storedMaximums(connection: Connection) throws(SQLiteError) -> [Int64: Int64] {
    var keys: [Int64: Int64] = [:]
    let sql =
      "SELECT \(quote(PhysicalName.entity)), \(quote(PhysicalName.maximum)) FROM "
      + "\(quote(SchemaName.store)).\(quote(PhysicalName.primaryKeyTable))"
    for row in try connection.rows(sql) {
      if let number = row[0].integer, let key = row[1].integer { keys[number] = key }
    }
    return keys
  }
}
