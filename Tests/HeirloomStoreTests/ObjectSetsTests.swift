import HeirloomStore
import TestSupport
import Testing

struct ObjectSetsTests {
  @Test func `sets hold the keys that were noted, in any order and more than once`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    let sets = try ObjectSets(connection: connection)
    let numbers = [sets.add(), sets.add()]
    var expected: [Set<Int64>] = [[], []]
    var random = SplitMix64(seed: 9)
    // More rows than wait in memory, so that later keys meet rows that were written.
    for _ in 0..<12_000 {
      let (set, key) = (random.below(2), Int64(random.below(400_000)) - 200_000)
      sets.insert(key, into: numbers[set])
      expected[set].insert(key)
    }
    try sets.flush()
    try connection.execute("CREATE TABLE o (k INTEGER PRIMARY KEY)")
    let all = expected[0].union(expected[1]).map { "(\($0)), (\($0 + 1))" }.joined(separator: ", ")
    try connection.execute("INSERT OR IGNORE INTO o VALUES \(all)")
    for (number, keys) in zip(numbers, expected) {
      #expect(try sets.count(of: number) == Int64(keys.count))
      let found = try connection.rows("SELECT k FROM o WHERE \(sets.contains("o.k", in: number))")
      #expect(Set(found.compactMap { $0[0].integer }) == keys)
    }
    try sets.remove()
  }
}
