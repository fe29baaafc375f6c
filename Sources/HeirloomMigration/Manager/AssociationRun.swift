/// A run of consecutive source keys whose destination keys are consecutive too.
struct AssociationRun {
  let source: Associations.Key
  let destination: Associations.Key
  /// True when the destination may already have been associated; the run then has only this key.
  var isRepeated: Bool = false
  /// The number of destination keys.
  private(set) var count: Int64 = 1
  /// The numbers of destination keys for all source keys but the last, which has the remaining ones.
  private(set) var counts: [UInt8] = []
  /// The number of destination keys for the last source key; unknown for a run that was read from its table.
  private var lastCount: Int64 = 1

  /// Few enough source keys to search one by one.
  private static let spanLimit: Int = 64
  /// The number of destination keys at which a run stops taking source keys.
  private static let countLimit: Int64 = 1024

  init(source: Associations.Key, destination: Associations.Key, isRepeated: Bool) {
    self.source = source
    self.destination = destination
    self.isRepeated = isRepeated
    counts.reserveCapacity(isRepeated ? 0 : Self.spanLimit)
  }

  init(source: Associations.Key, destination: Associations.Key, count: Int64, counts: [UInt8]) {
    self.source = source
    self.destination = destination
    self.count = count
    self.counts = counts
  }

  var span: Int64 { Int64(counts.count) + 1 }

  var lastDestination: Int64 { destination.primaryKey + (count - 1) }

  /// Returns false if the association doesn't continue the run, or the run is full.
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

  private static func distance(from first: Int64, to second: Int64) -> Int64? {
    let (distance, overflow) = second.subtractingReportingOverflow(first)
    return overflow ? nil : distance
  }
}
