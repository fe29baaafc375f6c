import HeirloomModel

/// The attributes that SwiftData makes of a property's type.
struct SwiftDataAttributes {
  /// A type whose attribute no known store shows.
  struct Problem: Error {
    let reason: String
  }

  let source: SwiftDataSource

  private static let depthLimit = 12

  /// The types of the library whose attribute is known: the width of an integer counts, not its range.
  static let plain: [String: AttributeType] = [
    "Bool": .boolean, "String": .string, "Date": .date, "Data": .binary, "UUID": .uuid, "Int": .integer64,
    "Int64": .integer64, "UInt64": .integer64, "Int32": .integer32, "UInt32": .integer32, "Int16": .integer16,
    "UInt8": .integer16, "Double": .double, "Float": .float, "Decimal": .decimal,
  ]
  /// The stored members of structures of frameworks.
  private static let structures: [String: [(String, AttributeType)]] = [
    "Color.Resolved": [("linearRed", .float), ("linearGreen", .float), ("linearBlue", .float), ("opacity", .float)]
  ]
  private static let codable: Set<String> = ["Codable", "Encodable", "Decodable"]

  /// Returns the attribute of a property.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - type: Its type.
  ///   - scope: The names of the types around it.
  /// - Returns: The attribute, or the reason why nobody knows it.
  func attribute(_ name: String, _ type: SwiftTypeName, in scope: [String]) -> Result<AttributeDescription, Problem> {
    Result { () throws(Problem) in try attribute(name, type, in: scope, isPart: false, isOptional: false, depth: 0) }
  }

  private func attribute(
    _ name: String, _ type: SwiftTypeName, in scope: [String], isPart: Bool, isOptional: Bool, depth: Int
  ) throws(Problem) -> AttributeDescription {
    guard depth < Self.depthLimit else { throw Problem(reason: "its types stand too deep in each other") }
    func made(_ type: AttributeType) -> AttributeDescription {
      var attribute = AttributeDescription(name: name, type: type)
      attribute.isOptional = isOptional
      return attribute
    }
    switch type {
    case .optional(let wrapped):
      return try attribute(name, wrapped, in: scope, isPart: isPart, isOptional: true, depth: depth + 1)
    case .array(let element):
      return try array(made, type, of: element, in: scope, isPart: isPart)
    case .dictionary(.named(["String"]), .named(let names)):
      guard case .type(let value)? = source.meaning(of: names, in: scope), value.kind == .structure,
        source.conforms(value, to: Self.codable)
      else { break }
      return made(.binary)
    case .named(let names):
      switch source.meaning(of: names, in: scope) {
      case .type(let declaration)?:
        return try composite(made(.composite), of: declaration, isOptional: isOptional, depth: depth)
      case .alias(let target, let scope)?:
        return try attribute(name, target, in: scope, isPart: isPart, isOptional: isOptional, depth: depth + 1)
      case .ambiguous: throw Problem(reason: "several types are called \(type)")
      case nil:
        if names.count == 1, let plain = Self.plain[names[0]] { return made(plain) }
        guard let members = Self.structures[names.joined(separator: ".")] else {
          throw Problem(reason: "\(type) is a type of another module, or of none that was read")
        }
        var attribute = made(.composite)
        attribute.composite = CompositeAttributeDescription(
          elements: members.map { Self.leaf($0.0, $0.1, isOptional: isOptional) })
        return attribute
      }
    default: break
    }
    throw Problem(reason: "no store is known that has a property of type \(type)")
  }

  private func array(
    _ made: (AttributeType) -> AttributeDescription, _ type: SwiftTypeName, of element: SwiftTypeName,
    in scope: [String], isPart: Bool
  ) throws(Problem) -> AttributeDescription {
    if !isPart, element == .named(["String"]) || element == .named(["Data"]), !isDeclared(element, in: scope) {
      var attribute = made(.transformable)
      attribute.valueTransformerName = "NSSecureUnarchiveFromData"
      attribute.attributeValueClassName = "Array<\(element)>"
      return attribute
    }
    if isPart, isDeclared(element, in: scope) { return made(.binary) }
    throw Problem(
      reason: "no store is known that has \(isPart ? "a member of a structure" : "a property") of type \(type)")
  }

  /// Returns true for a structure or enumeration of these files.
  private func isDeclared(_ type: SwiftTypeName, in scope: [String]) -> Bool {
    guard case .named(let names) = type, case .type(let found)? = source.meaning(of: names, in: scope) else {
      return false
    }
    return (found.kind == .structure || found.kind == .enumeration) && source.conforms(found, to: Self.codable)
  }

  private static func leaf(_ name: String, _ type: AttributeType, isOptional: Bool) -> AttributeDescription {
    var leaf = AttributeDescription(name: name, type: type)
    leaf.isOptional = isOptional
    return leaf
  }

  // MARK: - Composites

  private func composite(
    _ attribute: AttributeDescription, of declaration: SwiftDeclaration, isOptional: Bool, depth: Int
  ) throws(Problem) -> AttributeDescription {
    guard !declaration.isGeneric else { throw Problem(reason: "\(declaration.name) is generic") }
    guard !declaration.isConditional else { throw Problem(reason: "\(declaration.name) stands in a branch of #if") }
    guard declaration.kind == .structure || declaration.kind == .enumeration,
      source.conforms(declaration, to: Self.codable)
    else { throw Problem(reason: "\(declaration.name) is no structure or enumeration that is known to be Codable") }
    var attribute = attribute
    guard declaration.kind == .enumeration else {
      let elements = try members(of: declaration, isOptional: isOptional, depth: depth)
      attribute.composite = CompositeAttributeDescription(elements: elements)
      return attribute
    }
    attribute.userInfo = ["EnumType": "YES"]
    if let raw = declaration.inherited.first, case .named(let names) = raw, names.count == 1,
      let type = Self.plain[names[0]]
    {
      attribute.composite = CompositeAttributeDescription(elements: [Self.leaf(attribute.name, type, isOptional: true)])
      return attribute
    }
    if let odd = declaration.cases.first(where: { $0.hasValues || $0.isConditional }) {
      throw Problem(
        reason: odd.hasValues
          ? "the case \(odd.name) of \(declaration.name) has associated values, which no known store shows"
          : "the case \(odd.name) of \(declaration.name) stands in a branch of #if")
    }
    guard !declaration.cases.isEmpty else { throw Problem(reason: "\(declaration.name) has no cases") }
    attribute.composite = CompositeAttributeDescription(
      elements: declaration.cases.map { Self.leaf($0.name, .string, isOptional: true) })
    return attribute
  }

  private func members(
    of declaration: SwiftDeclaration, isOptional: Bool, depth: Int
  ) throws(Problem) -> [AttributeDescription] {
    if case .type? = source.meaning(of: ["CodingKeys"], in: declaration.path).flatMap({ meaning in
      if case .type(let keys) = meaning, keys.path == declaration.path + ["CodingKeys"] { meaning } else { nil }
    }) {
      throw Problem(reason: "\(declaration.name) has coding keys, and no known store shows which names count then")
    }
    var result: [AttributeDescription] = []
    for property in declaration.properties where !property.isStatic && property.body == nil {
      guard !property.isLazy, !property.isConditional, property.attributes.isEmpty else {
        throw Problem(reason: "nobody knows here how \(declaration.name).\(property.name) is stored")
      }
      let inferred = property.initialValue.map { SwiftInitialValue($0, source.tokens(property.place)).type }
      guard let type = property.type ?? inferred ?? nil else {
        throw Problem(reason: "the type of \(declaration.name).\(property.name) is one that only the compiler knows")
      }
      result.append(
        try attribute(
          property.name, type, in: declaration.path, isPart: true, isOptional: isOptional, depth: depth + 1))
    }
    return result
  }
}
