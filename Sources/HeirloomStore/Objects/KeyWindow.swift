/// The rows that a table has among keys that follow each other, for look-ups that go through it in order.
///
/// Each look-up that goes on where the last rows ended reads more rows at once. The knowledge holds as long as nobody
/// inserts or deletes rows without saying so.
struct KeyWindow {
  /// The first key that is known about.
  private var lower: Int64 = 0
  /// The last key that is known about; below `lower` if none is.
  private var upper: Int64 = -1
  /// The rows from one to the other, by key.
  private var rows: [(key: Int64, entityNumber: Int64)] = []
  /// The number of rows that were read at once.
  private var size: Int = 1

  /// The most rows that are read at once.
  private static let sizeLimit: Int = 256
  /// The most keys without a row between two look-ups that follow each other.
  private static let gapLimit: Int64 = 16

  /// True if nothing is known.
  var isEmpty: Bool { upper < lower }

  /// Returns the entity number of a row; `nil` if there is no row.
  mutating func entityNumber(ofKey key: Int64, _ writer: RowWriter) throws(SQLiteError) -> Int64? {
    if key < lower || key > upper { try read(from: key, writer) }
    var (first, end) = (0, rows.count)
    while first < end {
      let middle = (first + end) / 2
      if rows[middle].key < key { first = middle + 1 } else { end = middle }
    }
    return first < rows.count && rows[first].key == key ? rows[first].entityNumber : nil
  }

  /// Notes that a row was inserted or deleted.
  mutating func rowChanged(key: Int64) {
    if key >= lower, key <= upper { removeAll() }
  }

  private mutating func removeAll() {
    (lower, upper, size) = (0, -1, 1)
    rows.removeAll(keepingCapacity: true)
  }

  private mutating func read(from key: Int64, _ writer: RowWriter) throws(SQLiteError) {
    let follows = !isEmpty && upper < .max - Self.gapLimit && key > upper && key <= upper + Self.gapLimit
    let count = follows ? min(4 * size, Self.sizeLimit) : 1
    removeAll()
    if count == 1 {
      if let number = try writer.entityNumber(ofKey: key) { rows.append((key, number)) }
    } else {
      try writer.appendRows(from: key, limit: count, to: &rows)
    }
    (lower, upper, size) = (key, rows.last?.key ?? key, count)
  }
}
