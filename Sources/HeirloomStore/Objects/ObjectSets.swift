import HeirloomModel

/// The sets are in a temporary table, so that they can have many members.
///
/// Each row holds up to 64 members with neighbouring keys, as a bit mask. Adding objects in the
/// order of their keys costs one row for 64 objects; memory use is bounded in any order.
package final class ObjectSets {
  private struct Place: Hashable {
    let set: Int
    /// The keys without their last six bits.
    let block: Int64
  }

  private static let table = quote("heirloom_object_sets")
  private static let waitingLimit: Int = 4096

  /// Reads are not recorded while they are not those of app code.
  @exclusivity(unchecked) package var isPaused: Bool = false
  /// Changes are not recorded while they are not those of app code.
  @exclusivity(unchecked) package var ignoresEdits: Bool = false

  private let connection: Connection
  private let statements: StatementCache
  /// For each set, the block of its last member, and the members of that block that aren't in `waiting` yet.
  @exclusivity(unchecked) private var blocks: [Int64] = []
  @exclusivity(unchecked) private var members: [UInt64] = []
  private var waiting: [Place: UInt64] = [:]
  /// The first failure to write, which `flush()` throws.
  private var failure: SQLiteError?

  package init(connection: Connection) throws(SQLiteError) {
    self.connection = connection
    statements = StatementCache(connection: connection)
    try connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)")
    try connection.execute(
      "CREATE TEMP TABLE \(Self.table) (number INTEGER, block INTEGER, members INTEGER,"
        + " PRIMARY KEY (number, block)) WITHOUT ROWID")
  }

  package func add() -> Int {
    blocks.append(.min)
    members.append(0)
    return blocks.count - 1
  }

  @inline(__always)
  package func insert(_ key: Int64, into set: Int) {
    if blocks[set] != key >> 6 { turn(set, to: key >> 6) }
    members[set] |= 1 << UInt64(truncatingIfNeeded: key & 63)
  }

  @inline(never)
  private func turn(_ set: Int, to block: Int64) {
    if members[set] != 0 { waiting[Place(set: set, block: blocks[set]), default: 0] |= members[set] }
    (blocks[set], members[set]) = (block, 0)
    guard waiting.count >= Self.waitingLimit else { return }
    do throws(SQLiteError) {
      try write()
    } catch {
      if failure == nil { failure = error }
    }
  }

  private func write() throws(SQLiteError) {
    let ordered = waiting.ordered { ($0.key.set, $0.key.block) < ($1.key.set, $1.key.block) }
    for (place, found) in ordered {
      try statements.run(
        "INSERT INTO temp.\(Self.table) VALUES (?1, ?2, ?3)"
          + " ON CONFLICT (number, block) DO UPDATE SET members = members | excluded.members",
        [.integer(Int64(place.set)), .integer(place.block), .integer(Int64(bitPattern: found))])
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// For queries; throws the error of an earlier write.
  package func flush() throws(SQLiteError) {
    for set in blocks.indices { turn(set, to: .min) }
    if let failure { throw failure }
    try write()
  }

  /// The set must have been flushed.
  package func contains(_ key: String, in set: Int) -> String {
    "EXISTS (SELECT 1 FROM temp.\(Self.table) AS m WHERE m.number = \(set) AND m.block = \(key) >> 6"
      + " AND m.members >> (\(key) & 63) & 1)"
  }

  /// The set must have been flushed.
  package func count(of set: Int) throws(SQLiteError) -> Int64 {
    var count: Int64 = 0
    try statements.withStatement(
      "SELECT members FROM temp.\(Self.table) WHERE number = ?1", [.integer(Int64(set))]
    ) { rows throws(SQLiteError) in
      while try rows.step() { count += Int64(rows.integer(at: 0).nonzeroBitCount) }
    }
    return count
  }

  /// The set must have been flushed.
  package func contains(_ key: Int64, in set: Int) throws(SQLiteError) -> Bool {
    try statements.withStatement(
      "SELECT members FROM temp.\(Self.table) WHERE number = ?1 AND block = ?2",
      [.integer(Int64(set)), .integer(key >> 6)]
    ) { rows throws(SQLiteError) in
      try rows.step() && UInt64(bitPattern: rows.integer(at: 0)) >> UInt64(key & 63) & 1 == 1
    }
  }

  /// In ascending order, after a flush; members must also be in `other`.
  ///
  /// The closure may add members to other sets.
  package func forEachMember(of set: Int, alsoIn other: Int? = nil, _ body: (Int64) throws -> Void) throws {
    // The closure may write to the table, so no statement may stay open.
    var last: Int64?
    repeat {
      var blocks: [(block: Int64, members: UInt64)] = []
      let condition = last == nil ? "" : " AND s.block > ?2"
      let members = other == nil ? "s.members" : "s.members & o.members"
      let join = other.map { " JOIN temp.\(Self.table) AS o ON o.number = \($0) AND o.block = s.block" } ?? ""
      try statements.withStatement(
        "SELECT s.block, \(members) FROM temp.\(Self.table) AS s\(join) WHERE s.number = ?1\(condition)"
          + " ORDER BY s.block LIMIT 256", [.integer(Int64(set))] + (last.map { [.integer($0)] } ?? [])
      ) { rows throws(SQLiteError) in
        while try rows.step() { blocks.append((rows.integer(at: 0), UInt64(bitPattern: rows.integer(at: 1)))) }
      }
      for (block, members) in blocks {
        for bit in 0..<UInt64(64) where members >> bit & 1 == 1 { try body(block << 6 | Int64(bit)) }
      }
      last = blocks.last?.block
    } while last != nil
  }

  package func remove() throws(SQLiteError) {
    statements.removeAll()
    try connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)")
  }
}

/// One set for each recorded property.
package final class PropertyReads {
  /// The number of the set of objects of which any property was read.
  package let ofAny: Int
  private let sets: ObjectSets
  /// By the numbers of properties; -1 for a property that isn't recorded.
  private let numbers: [Int]
  private let names: [String: Int]

  /// `all` has all properties in the order of their numbers.
  init(of properties: Set<String>, among all: [String], in sets: ObjectSets) {
    self.sets = sets
    ofAny = sets.add()
    var names: [String: Int] = [:]
    numbers = all.map { name in
      guard properties.contains(name) else { return -1 }
      let number = sets.add()
      names[name] = number
      return number
    }
    self.names = names
  }

  @inline(__always)
  func note(_ property: Int, of key: Int64) {
    guard !sets.isPaused else { return }
    sets.insert(key, into: ofAny)
    let number = numbers[property]
    if number >= 0 { sets.insert(key, into: number) }
  }

  package func set(of property: String) -> Int? { names[property] }
}
