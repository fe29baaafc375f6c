/// A statement whose rows are those of objects, with the object that stands for the current one.
final class RowCursor {
  let statement: Statement
  /// The object of the current row, while the row is its own.
  @exclusivity(unchecked) unowned(unsafe) var current: ManagedObject?
  /// The columns of the current row's slots.
  @exclusivity(unchecked) private(set) var columns: [Int32] = []
  private let maps: [Int: [Int32]]
  @exclusivity(unchecked) private var number: Int = 0

  /// The columns before those of slots: the primary key, the entity number and the number of saves.
  private static let fixedColumns: Int = 3

  init(statement: consuming Statement, maps: [Int: [Int32]]) {
    self.statement = statement
    self.maps = maps
  }

  /// The columns that hold the slots of several entities, and where each has its own.
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

  /// Goes to the next row.
  func step() throws(SQLiteError) -> Bool {
    guard try statement.step() else { return false }
    let number = Int(statement.integer(at: 1))
    if number != self.number {
      self.number = number
      columns = maps[number] ?? []
    }
    return true
  }

  /// The primary key of the current row.
  var key: Int64 { statement.integer(at: 0) }

  /// The entity number of the current row.
  var entityNumber: Int { number }

  /// The number of saves of the current row.
  var version: SQLiteValue { statement.value(at: 2) }

  /// The column of a slot.
  @inline(__always)
  func column(_ slot: Int) -> Int { Int(columns[slot]) }

  /// A copy of the current row, unless it is large.
  func smallRow() -> [SQLiteValue]? {
    var size = 0
    for column in columns { size += statement.size(at: Int(column)) }
    guard size <= 1024 else { return nil }
    return columns.map { statement.value(at: Int($0)) }
  }
}
