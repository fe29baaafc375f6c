/// For look-ups in ascending order; sequential ones read ahead.
///
/// ``rowChanged(key:)`` must be called for every row that is inserted or deleted.
struct KeyWindow {
  private var lower: Int64 = 0
  /// Below `lower` if the range is empty.
  private var upper: Int64 = -1
  private var rows: [(key: Int64, entityNumber: Int64)] = []
  private var size: Int = 1

  private static let sizeLimit: Int = 256
  /// The largest distance from the end of the range at which a key continues a sequence.
  private static let gapLimit: Int64 = 16

  var isEmpty: Bool { upper < lower }

  mutating func entityNumber(ofKey key: Int64, _ writer: RowWriter) throws(SQLiteError) -> Int64? {
    if key < lower || key > upper { try read(from: key, writer) }
    var (first, end) = (0, rows.count)
    while first < end {
      let middle = (first + end) / 2
      if rows[middle].key < key { first = middle + 1 } else { end = middle }
    }
    return first < rows.count && rows[first].key == key ? rows[first].entityNumber : nil
  }

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
