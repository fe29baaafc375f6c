import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The bits that say in persistent history which properties an update changed, as the destination has them.
///
/// Each property has a slot; slot 0 is the most significant bit of the first byte.
/// Two accounts of the order of slots exist, and none of how composite attributes count.
/// So bits are moved only where all accounts move them alike. Elsewhere an update says that every property changed.
/// A reader that checks too often loses nothing; one that checks a wrong property, or none, does.
enum ChangedColumns: Hashable {
  /// Bits that stay as they are.
  case kept
  /// Slots of the destination that each take the bit of a slot of the source; -1 for a property without a source.
  case moved(origins: [Int], sourceCount: Int)
  /// Slots of the destination that are all set.
  case all(count: Int)

  /// The name of the function in SQL that moves bits.
  private static let functionName = "heirloom_moved_bits"

  /// Derives the change to the bits of an entity's updates.
  ///
  /// - Parameters:
  ///   - fate: The fate of the entity, which has a destination.
  ///   - source: The source model.
  ///   - destination: The destination model.
  init(_ fate: EntityFate, source: ManagedObjectModel, destination: ManagedObjectModel) {
    let name = fate.destination?.name ?? ""
    let ways = Account.all.map { account in
      (from: account.slots(of: fate.source.name, in: source), to: account.slots(of: name, in: destination))
    }
    let moves = ways.map { way in
      fate.properties.flatMap { properties in Self.origins(of: way.to, in: way.from, properties) }
    }
    guard let first = moves.first ?? nil, let way = ways.first,
      zip(moves, ways).allSatisfy({ $0 == first && $1.from.count == way.from.count })
    else {
      let staysKept = zip(moves, ways).allSatisfy { move, way in
        move.map { $0 == Array(way.from.indices) && $0.count == way.from.count } ?? false
      }
      self = staysKept ? .kept : .all(count: ways.first?.to.count ?? 0)
      return
    }
    self = first == Array(way.from.indices) ? .kept : .moved(origins: first, sourceCount: way.from.count)
  }

  /// Returns the source's slot for each destination slot; `nil` if a value is computed, since its input is unknown.
  private static func origins(of slots: [Slot], in old: [Slot], _ properties: [String: PropertyMapping]) -> [Int]? {
    var origins: [Int] = []
    for slot in slots {
      let mapping = properties[slot.property]
      if case .expression? = mapping?.form { return nil }
      let name = mapping?.sourceAttributeName ?? mapping?.sourceRelationshipName
      origins.append(name.flatMap { name in old.firstIndex { $0.property == name && $0.part == slot.part } } ?? -1)
    }
    return origins
  }

  /// Returns the number of bytes that the bits of this many slots take.
  static func byteCount(_ slots: Int) -> Int { (slots + 7) / 8 }

  /// The number of bytes that an update's bits must have; `nil` where it doesn't matter.
  var fittingByteCount: Int? {
    if case .moved(_, let count) = self { Self.byteCount(count) } else { nil }
  }

  /// Returns the SQL of the bits in the destination, over the quoted column.
  func expression(over column: String) -> String {
    switch self {
    case .kept: return column
    case .all(let count): return "CASE WHEN \(column) NOT NULL THEN \(Self.full(count)) END"
    case .moved(let origins, let sourceCount):
      let list = quoteLiteral(origins.map(String.init).joined(separator: ","))
      return "CASE WHEN \(column) IS NULL THEN NULL WHEN LENGTH(\(column)) = \(Self.byteCount(sourceCount))"
        + " THEN \(Self.functionName)(\(column), \(list)) ELSE \(Self.full(origins.count)) END"
    }
  }

  private static func full(_ count: Int) -> String {
    let bytes = (0..<byteCount(count)).map { UInt8(truncatingIfNeeded: 0xFF00 >> min(8, count - $0 * 8)) }
    return "x'\(bytes.hexadecimal)'"
  }

  /// Registers the function that moves bits.
  static func registerFunction(on connection: Connection) throws(SQLiteError) {
    try connection.registerFunction(functionName, argumentCount: 2, isDeterministic: true) { arguments in
      let origins = (arguments.text(at: 1) ?? "").split(separator: ",").map { Int($0) ?? -1 }
      return arguments.withBytes(at: 0) { bytes in
        var result = [UInt8](repeating: 0, count: byteCount(origins.count))
        for (place, origin) in origins.enumerated() where origin >= 0 && origin / 8 < bytes.count {
          guard bytes[origin / 8] & (0x80 >> UInt8(origin % 8)) != 0 else { continue }
          result[place / 8] |= 0x80 >> UInt8(place % 8)
        }
        return .blob(result)
      }
    }
  }

  /// The place of a property, or of a part of one.
  private struct Slot: Hashable {
    let property: String
    var part = ""
  }

  /// An account of the order of slots.
  private struct Account {
    /// True when to-one relationships come first and to-many ones last, and a to-one's entity has a slot of its own.
    let goesByKind: Bool
    /// True when a composite attribute has a slot for each leaf.
    let splitsComposites: Bool

    /// All accounts; the first is the one that real stores support.
    static let all: [Account] = [true, false].flatMap { kind in
      [false, true].map { Account(goesByKind: kind, splitsComposites: $0) }
    }

    func slots(of entity: String, in model: ManagedObjectModel) -> [Slot] {
      let attributes = model.attributes(of: entity).filter { !$0.isTransient }.map { attribute in
        guard splitsComposites, attribute.composite != nil else { return [Slot(property: attribute.name)] }
        return Self.leaves(of: attribute).map { Slot(property: attribute.name, part: $0) }
      }
      let links = model.relationships(of: entity).filter { !$0.isTransient }
      let toOne = links.filter { !$0.isToMany }.map { link in
        let hasEntity = goesByKind && !model.subentities(of: link.destinationEntity).isEmpty
        return [Slot(property: link.name)] + (hasEntity ? [Slot(property: link.name, part: "entity")] : [])
      }
      let toMany = links.filter(\.isToMany).map { [Slot(property: $0.name)] }
      func sorted(_ slots: [[Slot]]) -> [Slot] {
        slots.sorted { ($0.first?.property ?? "").utf16Precedes($1.first?.property ?? "") }.flatMap(\.self)
      }
      return goesByKind
        ? sorted(toOne) + sorted(attributes) + sorted(toMany) : sorted(toOne + attributes + toMany)
    }

    private static func leaves(of attribute: AttributeDescription) -> [String] {
      guard let composite = attribute.composite else { return [""] }
      return composite.elements.filter { !$0.isTransient }.flatMap { element in
        leaves(of: element).map { "\(element.name).\($0)" }
      }
    }
  }
}
