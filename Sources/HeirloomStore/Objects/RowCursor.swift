/// The statement first selects all columns, and later only those that are read.
///
/// A value of another column is then looked up by its row's key.
final class RowCursor {
  @exclusivity(unchecked) private(set) var statement: Statement
  @exclusivity(unchecked) unowned(unsafe) var current: ManagedObject?
  @exclusivity(unchecked) private(set) var entityNumber: Int = 0

  /// The fixed columns, then those of all slots.
  private let names: [String]
  /// The positions in `names` of slots, by entity number.
  private let maps: [Int: [Int32]]
  @exclusivity(unchecked) private var map: [Int32] = []
  /// By position in `names`; -1 for a column that isn't selected.
  @exclusivity(unchecked) private var columns: [Int32]
  @exclusivity(unchecked) private var touched: UInt64 = 0
  @exclusivity(unchecked) private var rows: Int = 0
  @exclusivity(unchecked) private var misses: Int = 0

  /// The primary key, the entity number and the number of saves.
  private static let fixedColumns: Int = 3
  private static let trialRows: Int = 64

  init(statement: consuming Statement, names: [String], maps: [Int: [Int32]]) {
    self.statement = statement
    self.names = names
    self.maps = maps
    columns = Array(0..<Int32(names.count))
  }

  static func columns(of plans: [EntityPlan]) -> (names: [String], maps: [Int: [Int32]]) {
    var names = [PhysicalName.primaryKey, PhysicalName.entity, PhysicalName.optimisticLock]
    var positions: [String: Int32] = [:]
    var maps: [Int: [Int32]] = [:]
    for plan in plans {
      var map: [Int32] = []
      for column in plan.columns {
        let position = positions[column] ?? Int32(names.count)
        if positions.updateValue(position, forKey: column) == nil { names.append(column) }
        map.append(position)
      }
      maps[plan.entity.number] = map
    }
    return (names, maps)
  }

  func step() throws(SQLiteError) -> Bool {
    guard try statement.step() else { return false }
    rows += 1
    let number = Int(truncatingIfNeeded: statement.integer(at: 1))
    if number != entityNumber {
      entityNumber = number
      map = maps[number] ?? []
    }
    return true
  }

  var key: Int64 { statement.integer(at: 0) }

  var version: SQLiteValue { statement.value(at: 2) }

  /// -1 if the statement doesn't have the column.
  @inline(__always)
  func column(_ slot: Int) -> Int {
    let position = Int(map[slot])
    touched |= 1 << UInt64(truncatingIfNeeded: min(position, 63))
    let column = columns[position]
    if column < 0 { misses += 1 }
    return Int(column)
  }

  /// Returns `nil` if the row is large or some of its columns aren't selected.
  func smallRow() -> [SQLiteValue]? {
    // Retained objects are read later, so all columns are selected from now on.
    touched = .max
    var size = 0
    for position in map {
      let column = columns[Int(position)]
      guard column >= 0 else { return nil }
      size += statement.size(at: Int(column))
    }
    guard size <= 1024 else { return nil }
    return map.map { statement.value(at: Int(columns[Int($0)])) }
  }

  /// To select from the next row on; `nil` to keep the current ones.
  var betterColumns: [String]? {
    guard names.count < 64, rows == Self.trialRows || misses > 8 else { return nil }
    let wanted = names.indices.filter { $0 < Self.fixedColumns || touched & (1 << UInt64($0)) != 0 }
    guard misses > 8 || wanted.count + 1 < names.count else { return nil }
    return wanted.map { names[$0] }
  }

  func replace(_ statement: consuming Statement, columns list: [String]) {
    self.statement = statement
    for (position, name) in names.enumerated() {
      columns[position] = list.firstIndex(of: name).map { Int32($0) } ?? -1
    }
    misses = 0
  }
}
