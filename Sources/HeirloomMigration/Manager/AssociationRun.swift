/// A sequence of source keys that follow each other, whose destination keys follow each other too.
struct AssociationRun {
  /// The first source object.
  let source: Associations.Key
  /// The first destination object.
  let destination: Associations.Key
  /// True when the destination may have been associated before; then it is the run's only one.
  var isRepeated: Bool = false
  /// The number of destination keys.
  private(set) var count: Int64 = 1
  /// The numbers of destination keys for each source key but the last; all others are the last one's.
  private(set) var counts: [UInt8] = []
  /// The number of destination keys for the last source key; unknown for a run that was read.
  private var lastCount: Int64 = 1

  /// The most source keys of a run: few enough to search one by one.
  private static let spanLimit: Int = 64
  /// The number of destination keys from which a run takes no further source key.
  private static let countLimit: Int64 = 1024

  /// Creates a run of one source object and one destination object.
  init(source: Associations.Key, destination: Associations.Key, isRepeated: Bool) {
    self.source = source
    self.destination = destination
    self.isRepeated = isRepeated
    counts.reserveCapacity(isRepeated ? 0 : Self.spanLimit)
  }

  /// Creates a run that was read from its table.
  init(source: Associations.Key, destination: Associations.Key, count: Int64, counts: [UInt8]) {
    self.source = source
    self.destination = destination
    self.count = count
    self.counts = counts
  }

  /// The number of source keys.
  var span: Int64 { Int64(counts.count) + 1 }

  /// The last destination key.
  var lastDestination: Int64 { destination.primaryKey + (count - 1) }

  /// Adds an association and returns true if it follows and the run has room.
  mutating func take(_ newSource: Associations.Key, _ newDestination: Associations.Key) -> Bool {
    guard !isRepeated, newSource.entity == source.entity, newDestination.entity == destination.entity,
      Self.distance(from: destination.primaryKey, to: newDestination.primaryKey) == count,
      let step = Self.distance(from: source.primaryKey, to: newSource.primaryKey)
    else { return false }
    if step == Int64(counts.count) {
      lastCount += 1
    } else if step == Int64(counts.count) + 1, counts.count + 1 < Self.spanLimit, count < Self.countLimit,
      let known = UInt8(exactly: lastCount)
    {
      counts.append(known)
      lastCount = 1
    } else {
      return false
    }
    count += 1
    return true
  }

  /// Returns the destination objects of one of the source objects.
  func destinations(of key: Associations.Key) -> [Associations.Key] {
    guard let step = Self.distance(from: source.primaryKey, to: key.primaryKey), step >= 0, step < span else {
      return []
    }
    let start = counts.prefix(Int(clamping: step)).reduce(Int64(0)) { $0 + Int64($1) }
    let end = step < counts.count ? start + Int64(counts[Int(clamping: step)]) : count
    return (start..<max(start, end)).map {
      Associations.Key(entity: destination.entity, primaryKey: destination.primaryKey + $0)
    }
  }

  /// Returns the source object of one of the destination objects.
  func source(of key: Associations.Key) -> Associations.Key? {
    guard var place = Self.distance(from: destination.primaryKey, to: key.primaryKey), place >= 0, place < count else {
      return nil
    }
    var step: Int64 = 0
    for known in counts {
      if place < known { break }
      place -= Int64(known)
      step += 1
    }
    return Associations.Key(entity: source.entity, primaryKey: source.primaryKey + step)
  }

  /// Returns the distance from one key to another; `nil` if it overflows.
  private static func distance(from first: Int64, to second: Int64) -> Int64? {
    let (distance, overflow) = second.subtractingReportingOverflow(first)
    return overflow ? nil : distance
  }
}
