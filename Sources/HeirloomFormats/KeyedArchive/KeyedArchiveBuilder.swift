struct KeyedArchiveBuilder {
  static let null: PropertyListValue = .uid(0)

  private var objects: [PropertyListValue] = [.string("$null")]
  private var strings: [String: PropertyListValue] = [:]
  private var classes: [String: PropertyListValue] = [:]

  /// Superclasses, the nearest first.
  private static let ancestors: [String: [String]] = [
    "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSMutableString": ["NSString"],
    "NSKnownKeysDictionary1": ["NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
    "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
    "NSAttributeDescription": ["NSPropertyDescription"], "NSRelationshipDescription": ["NSPropertyDescription"],
    "NSFetchedPropertyDescription": ["NSPropertyDescription"],
    "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSFetchRequest": ["NSPersistentStoreRequest"], "NSComparisonPredicate": ["NSPredicate"],
    "NSCompoundPredicate": ["NSPredicate"], "NSEqualityPredicateOperator": ["NSPredicateOperator"],
    "NSComparisonPredicateOperator": ["NSPredicateOperator"], "NSInPredicateOperator": ["NSPredicateOperator"],
    "NSSelfExpression": ["NSExpression"], "NSVariableExpression": ["NSExpression"],
    "NSConstantValueExpression": ["NSExpression"], "NSKeyPathSpecifierExpression": ["NSExpression"],
    "NSFunctionExpression": ["NSExpression"], "NSFetchRequestExpression": ["NSExpression"],
    "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"],
    "NSDecimalNumberPlaceholder": ["NSDecimalNumber", "NSNumber", "NSValue"],
  ]

  mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    objects.append(value)
    return .uid(objects.count - 1)
  }

  mutating func string(_ text: String?) -> PropertyListValue {
    guard let text else { return Self.null }
    // Texts that are equal but composed differently must not share a reference.
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
    if isPlain, let known = strings[text] { return known }
    // A text equal to the marker of nil would be read as nil.
    let reference = text == "$null" ? object("NSMutableString", ["NS.string": .string(text)]) : add(.string(text))
    if isPlain { strings[text] = reference }
    return reference
  }

  /// For an object that others refer to before it is added.
  mutating func reserve() -> PropertyListValue {
    add(.dictionary([:]))
  }

  @discardableResult
  mutating func object(
    _ className: String, _ members: [String: PropertyListValue] = [:], at place: PropertyListValue? = nil
  ) -> PropertyListValue {
    let type = classes[className] ?? makeClass(className)
    let value: PropertyListValue = .dictionary(members.merging(["$class": type]) { $1 })
    guard case .uid(let index)? = place else { return add(value) }
    objects[index] = value
    return .uid(index)
  }

  /// Sets have the same layout.
  mutating func array(_ elements: [PropertyListValue], className: String = "NSMutableArray") -> PropertyListValue {
    object(className, ["NS.objects": .array(elements)])
  }

  mutating func dictionary(
    _ entries: [(key: String, value: PropertyListValue)], className: String = "NSMutableDictionary"
  ) -> PropertyListValue {
    let keys = entries.map { string($0.key) }
    return object(className, ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.value))])
  }

  /// `nil` for a text that isn't a decimal number or has too many digits.
  mutating func decimal(_ text: String) -> PropertyListValue? {
    guard let parts = DecimalText.parts(text) else { return nil }
    let units = parts.mantissa.units
    let length = 8 - units.reversed().prefix { $0 == 0 }.count
    // Units of 16 bits, least significant first, little-endian as on Apple's machines.
    let bytes = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    return object(
      "NSDecimalNumberPlaceholder",
      [
        "NS.mantissa": .data(bytes), "NS.mantissa.bo": .integer(1), "NS.exponent": .integer(Int64(parts.exponent)),
        "NS.length": .integer(Int64(length)), "NS.negative": .boolean(parts.isNegative), "NS.compact": .boolean(true),
      ])
  }

  func bytes(root: PropertyListValue) throws(FormatError) -> [UInt8] {
    try BinaryPropertyListWriter.bytes(
      of: .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": root]), "$objects": .array(objects),
      ]))
  }

  private mutating func makeClass(_ name: String) -> PropertyListValue {
    let chain = [name] + (Self.ancestors[name] ?? []) + ["NSObject"]
    let reference = add(
      .dictionary(["$classname": .string(name), "$classes": .array(chain.map { .string($0) })]))
    classes[name] = reference
    return reference
  }
}
