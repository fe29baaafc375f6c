import HeirloomModel

/// The attributes that SwiftData derives from the types of properties.
struct SwiftDataAttributes {
  /// A type for which no known store has an attribute.
  struct Problem: Error {
    let reason: String
  }

  private let source: SwiftDataSource
  private var memberCount = 0

  private static let depthLimit = 12
  /// For members of an attribute's nested structures, which can be very many.
  private static let memberLimit = 1_000

  init(source: SwiftDataSource) {
    self.source = source
  }

  /// The width of an integer counts, not its range.
  static let plain: [String: AttributeType] = [
    "Bool": .boolean, "String": .string, "Date": .date, "Data": .binary, "UUID": .uuid, "Int": .integer64,
    "Int64": .integer64, "UInt64": .integer64, "Int32": .integer32, "UInt32": .integer32, "Int16": .integer16,
    "UInt8": .integer16, "Double": .double, "TimeInterval": .double, "Float": .float, "Decimal": .decimal,
  ]
  /// Stored members of structures of frameworks.
  static let structures: [String: [(String, AttributeType)]] = [
    "Color.Resolved": [("linearRed", .float), ("linearGreen", .float), ("linearBlue", .float), ("opacity", .float)]
  ]
  private static let codable: Set<String> = ["Codable", "Encodable", "Decodable"]

  mutating func attribute(
    _ name: String, _ type: SwiftDataType, transformer: String?
  ) -> Result<AttributeDescription, Problem> {
    Result { () throws(Problem) in
      guard let transformer else {
        return try attribute(name, type, isPart: false, isOptional: false, depth: 0)
      }
      var attribute = AttributeDescription(name: name, type: .transformable)
      attribute.valueTransformerName = transformer
      var value = type
      if case .optional(let wrapped) = type { (value, attribute.isOptional) = (wrapped, true) }
      switch value {
      case .optional, .ambiguous: break
      case .other(let text, _) where text.hasSuffix("!"): break
      default: return attribute
      }
      throw Problem(reason: "no known store has a property of type \(type)")
    }
  }

  private mutating func attribute(
    _ name: String, _ type: SwiftDataType, isPart: Bool, isOptional: Bool, depth: Int
  ) throws(Problem) -> AttributeDescription {
    guard depth < Self.depthLimit else { throw Problem(reason: "its types are nested too deeply") }
    func made(_ type: AttributeType) -> AttributeDescription {
      var attribute = AttributeDescription(name: name, type: type)
      attribute.isOptional = isOptional
      return attribute
    }
    switch type {
    case .optional(.optional): break
    case .optional(let wrapped):
      return try attribute(name, wrapped, isPart: isPart, isOptional: true, depth: depth)
    case .array(.library(let element)) where !isPart && (element == "String" || element == "Data"):
      var attribute = made(.transformable)
      attribute.valueTransformerName = "NSSecureUnarchiveFromData"
      attribute.attributeValueClassName = "Array<\(element)>"
      return attribute
    case .array(.declared(let element)) where isPart:
      _ = try rawType(ofCodable: element)
      return made(.binary)
    case .dictionary(.library("String"), .declared(let value)) where !isPart && value.kind == .structure:
      _ = try rawType(ofCodable: value)
      return made(.binary)
    case .declared(let declaration):
      return try composite(made(.composite), of: declaration, isOptional: isOptional, depth: depth)
    case .library(let library):
      if let plain = Self.plain[library] { return made(plain) }
      guard let members = Self.structures[library] else {
        throw Problem(reason: "\(type) is a type of another module, or of none that was read")
      }
      var attribute = made(.composite)
      attribute.composite = CompositeAttributeDescription(
        elements: members.map { Self.leaf($0.0, $0.1, isOptional: isOptional) })
      return attribute
    case .ambiguous: throw Problem(reason: "several types are called \(type)")
    default: break
    }
    throw Problem(
      reason: "no known store has \(isPart ? "a member of a structure" : "a property") of type \(type)")
  }

  private static func leaf(_ name: String, _ type: AttributeType, isOptional: Bool) -> AttributeDescription {
    var leaf = AttributeDescription(name: name, type: type)
    leaf.isOptional = isOptional
    return leaf
  }

  // MARK: - Composites

  /// Also checks that the type has compiler-generated coding; throws the reason why this isn't
  /// certain.
  func rawType(ofCodable declaration: SwiftDeclaration) throws(Problem) -> AttributeType? {
    guard !declaration.isGeneric else { throw Problem(reason: "\(declaration.name) is generic") }
    guard declaration.kind == .structure || declaration.kind == .enumeration,
      source.conforms(declaration, to: Self.codable)
    else { throw Problem(reason: "\(declaration.name) isn't a structure or enumeration that is known to be Codable") }
    let raw = declaration.kind == .enumeration ? try source.rawType(of: declaration) : nil
    if let reason = source.codingObjection(to: declaration, hasRawType: raw != nil) { throw Problem(reason: reason) }
    return raw
  }

  private mutating func composite(
    _ attribute: AttributeDescription, of declaration: SwiftDeclaration, isOptional: Bool, depth: Int
  ) throws(Problem) -> AttributeDescription {
    var attribute = attribute
    if let raw = try rawType(ofCodable: declaration) {
      attribute.userInfo = ["EnumType": "YES"]
      attribute.composite = CompositeAttributeDescription(elements: [Self.leaf(attribute.name, raw, isOptional: true)])
      return attribute
    }
    guard !source.hasCodingKeys(declaration) else {
      throw Problem(reason: "\(declaration.name) has coding keys, and no known store shows which names are used then")
    }
    if declaration.kind == .enumeration {
      attribute.userInfo = ["EnumType": "YES"]
      attribute.composite = CompositeAttributeDescription(elements: try cases(of: declaration))
    } else {
      let elements = try members(of: declaration, isOptional: isOptional, depth: depth)
      attribute.composite = CompositeAttributeDescription(elements: elements)
    }
    return attribute
  }

  private func cases(of declaration: SwiftDeclaration) throws(Problem) -> [AttributeDescription] {
    guard !declaration.cases.isEmpty else { throw Problem(reason: "\(declaration.name) has no cases") }
    var names: Set<String> = []
    for item in declaration.cases {
      let reason: String? =
        if !names.insert(item.name).inserted {
          "is declared twice"
        } else if item.values != nil {
          "has associated values, which no known store shows"
        } else if item.isConditional {
          "is in a branch of #if"
        } else if item.isQuoted {
          "is in backticks, and no known store shows whether they are part of it"
        } else {
          nil
        }
      if let reason { throw Problem(reason: "the case \(item.name) of \(declaration.name) \(reason)") }
    }
    return declaration.cases.map { Self.leaf($0.name, .string, isOptional: true) }
  }

  private mutating func members(
    of declaration: SwiftDeclaration, isOptional: Bool, depth: Int
  ) throws(Problem) -> [AttributeDescription] {
    var result: [AttributeDescription] = []
    for property in declaration.properties where property.isStored {
      guard property.isPlainMember else {
        throw Problem(reason: "it isn't known how \(declaration.name).\(property.name) is stored")
      }
      guard !result.contains(where: { $0.name == property.name }) else {
        throw Problem(reason: "\(declaration.name) declares \(property.name) twice")
      }
      memberCount += 1
      guard memberCount < Self.memberLimit else { throw Problem(reason: "its types have too many members") }
      guard let type = source.type(of: property, in: declaration) else {
        throw Problem(reason: "only the compiler can determine the type of \(declaration.name).\(property.name)")
      }
      result.append(try attribute(property.name, type, isPart: true, isOptional: isOptional, depth: depth + 1))
    }
    guard !result.isEmpty else { throw Problem(reason: "\(declaration.name) has no stored properties") }
    return result
  }
}
