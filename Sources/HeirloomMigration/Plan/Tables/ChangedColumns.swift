import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The bits in persistent history that mark which properties an update changed.
///
/// Each property has a slot, and so has each leaf of a composite attribute; slot 0 is the most
/// significant bit of the first byte. To-one relationships come first. Two facts about the order
/// are unknown, so each possible order is a ``BitLayout``. Of the orders whose slots take as many
/// bytes as an update's bits, all must move the bits alike. Otherwise the update marks every
/// property as changed. A history reader that checks too many properties loses nothing; one that
/// checks a wrong property, or none, does.
struct ChangedColumns: Equatable {
  /// By the number of bytes of the bits: the source's slot for each destination slot; -1 for none.
  private var origins: [Int: [Int]] = [:]
  private let count: Int
  /// True when bits of any length stay as they are.
  let areKept: Bool

  private static let functionName = "heirloom_moved_bits"

  /// The entity must have a destination.
  init(_ fate: EntityTransition, source: ManagedObjectModel, destination: ManagedObjectModel) {
    let ways = BitLayout.all.map { account in
      (
        from: account.slots(of: fate.source.name, in: source),
        to: account.slots(of: fate.destination?.name ?? "", in: destination)
      )
    }
    count = ways.first?.to.count ?? 0
    let moves = ways.map { way in
      fate.properties.flatMap { properties in Self.origins(of: way.to, in: way.from, properties) }
    }
    areKept = zip(moves, ways).allSatisfy { move, way in move == Array(way.from.indices) }
    for (byteCount, group) in Dictionary(grouping: zip(moves, ways), by: { Self.byteCount($1.from.count) }) {
      if let first = group.first?.0, group.allSatisfy({ $0.0 == first }) { origins[byteCount] = first }
    }
  }

  /// `nil` if a value is computed, or the leaves of a composite differ: their order is unknown.
  private static func origins(of slots: [Slot], in old: [Slot], _ properties: [String: PropertyMapping]) -> [Int]? {
    var origins: [Int] = []
    for slot in slots {
      let mapping = properties[slot.property]
      if case .expression? = mapping?.form { return nil }
      let name = mapping?.sourceAttributeName ?? mapping?.sourceRelationshipName
      let parts = old.filter { $0.property == name }.map(\.part)
      guard parts.isEmpty || parts == slots.filter({ $0.property == slot.property }).map(\.part) else { return nil }
      origins.append(name.flatMap { name in old.firstIndex { $0.property == name && $0.part == slot.part } } ?? -1)
    }
    return origins
  }

  static func byteCount(_ slots: Int) -> Int { (slots + 7) / 8 }

  func isCertain(forByteCount count: Int) -> Bool { origins[count] != nil }

  func expression(over column: String) -> String {
    let cases = origins.ordered { $0.key < $1.key }.map { byteCount, origins in
      let list = quoteLiteral(origins.map(String.init).joined(separator: ","))
      return " WHEN \(byteCount) THEN \(Self.functionName)(\(column), \(list))"
    }
    let full = "WHEN \(column) IS NULL THEN NULL ELSE \(full) END"
    return cases.isEmpty
      ? "CASE \(full)" : "CASE LENGTH(\(column))\(cases.joined()) ELSE CASE \(full) END"
  }

  private var full: String {
    let bytes = (0..<Self.byteCount(count)).map { UInt8(truncatingIfNeeded: 0xFF00 >> min(8, count - $0 * 8)) }
    return "x'\(bytes.hexadecimal)'"
  }

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

  private struct Slot: Hashable {
    let property: String
    var part = ""
  }

  /// A possible order of slots.
  private struct BitLayout {
    /// True when to-many relationships follow all attributes; else both are in one list by name.
    let hasToManyLast: Bool
    /// True when a to-one relationship has a second slot, for its entity column.
    let hasEntitySlots: Bool

    /// The one that most stores support comes first.
    static let all: [BitLayout] = [true, false].flatMap { last in
      [true, false].map { BitLayout(hasToManyLast: last, hasEntitySlots: $0) }
    }

    func slots(of entity: String, in model: ManagedObjectModel) -> [Slot] {
      let attributes = model.attributes(of: entity).filter { !$0.isTransient }.map { attribute in
        Self.leaves(of: attribute).map { Slot(property: attribute.name, part: $0) }
      }
      let links = model.relationships(of: entity).filter { !$0.isTransient }
      let toOne = links.filter { !$0.isToMany }.map { link in
        let hasEntity = hasEntitySlots && !model.subentities(of: link.destinationEntity).isEmpty
        return [Slot(property: link.name)] + (hasEntity ? [Slot(property: link.name, part: "entity")] : [])
      }
      let toMany = links.filter(\.isToMany).map { [Slot(property: $0.name)] }
      func sorted(_ slots: [[Slot]]) -> [Slot] {
        slots.ordered { $0.first?.property ?? "" }.flatMap(\.self)
      }
      return sorted(toOne)
        + (hasToManyLast ? sorted(attributes) + sorted(toMany) : sorted(attributes + toMany))
    }

    private static func leaves(of attribute: AttributeDescription) -> [String] {
      guard let composite = attribute.composite else { return [""] }
      return composite.elements.filter { !$0.isTransient }.flatMap { element in
        leaves(of: element).map { "\(element.name).\($0)" }
      }
    }
  }
}
