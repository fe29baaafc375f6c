import HeirloomFormats
import HeirloomModel

/// The types of a frozen schema whose entities are those of a store or snapshot.
struct FrozenModelReader {
  /// Differences from the app's source, without a full stop.
  private(set) var notes: [String] = []
  /// Features that no class of SwiftData can express, without a full stop.
  private(set) var reasons: [String] = []

  private let model: ManagedObjectModel
  private var values: [FrozenType] = []
  private var taken: Set<String>

  private static let plain: [AttributeType: String] = [
    .boolean: "Bool", .string: "String", .date: "Date", .binary: "Data", .uuid: "UUID", .integer64: "Int",
    .integer32: "Int32", .integer16: "Int16", .double: "Double", .float: "Float", .decimal: "Decimal",
  ]

  init(_ model: ManagedObjectModel) {
    self.model = model
    taken = Set(model.entities.map(\.name)).union(Self.plain.values)
  }

  mutating func types() -> [FrozenType] {
    let classes = model.entities.map { type(of: $0) }
    return classes + values
  }

  private mutating func check(_ name: String, _ place: String) {
    if !SwiftWords.isName(name) { reasons.append("\(place) has a name that Swift writes in backticks, or can't have") }
  }

  private mutating func type(of entity: EntityDescription) -> FrozenType {
    let macros = FrozenMacros(model: model, entity: entity)
    check(entity.name, "\"\(entity.name)\"")
    let objections = [
      (entity.superentity != nil, "has a parent, and no known store shows how a subclass is stored"),
      (entity.isAbstract, "is abstract"), (entity.versionHashModifier != nil, "has a version hash modifier"),
      (!entity.fetchedProperties.isEmpty, "has fetched properties"),
    ]
    reasons += objections.filter(\.0).map { "\(entity.name) \($0.1), which no class of SwiftData is known to have" }
    if let former = entity.renamingIdentifier, former != entity.name {
      notes.append("\(entity.name) was called \(former): @Model has no place for that")
    }
    for index in entity.indexes where index.plainProperties == nil {
      notes.append("the index \(index.name) of \(entity.name) was left out: #Index can't make it")
    }
    var type = FrozenType(name: entity.name, head: "final class \(entity.name)", macros: macros.ofClass)
    type.properties = entity.attributes.map { property($0, of: entity, macros) }
    for relationship in entity.relationships {
      let place = "\(entity.name).\(relationship.name)"
      check(relationship.name, place)
      let objections = [
        (relationship.isOrdered, "is ordered"), (relationship.isTransient, "is transient"),
        (relationship.minCount != 0 || relationship.maxCount > 1, "has a least or greatest number of objects"),
        (relationship.versionHashModifier != nil, "has a version hash modifier"),
      ]
      reasons += objections.filter(\.0).map { "\(place) \($0.1), which no class of SwiftData is known to have" }
      type.properties.append(
        FrozenType.Property(
          macro: macros.of(relationship), name: relationship.name, type: FrozenMacros.type(of: relationship),
          value: relationship.isToMany && !relationship.isOptional ? "[]" : nil))
    }
    return type
  }

  private mutating func property(
    _ attribute: AttributeDescription, of entity: EntityDescription, _ macros: FrozenMacros
  ) -> FrozenType.Property {
    let place = "\(entity.name).\(attribute.name)"
    let objections = [
      (attribute.derivation != nil, "is derived"),
      (attribute.versionHashModifier != nil, "has a version hash modifier"),
      (attribute.isStoredInExternalRecord, "is stored in an external record"),
    ]
    reasons += objections.filter(\.0).map { "\(place) \($0.1), which no class of SwiftData is known to have" }
    if !attribute.validationRules.isEmpty { notes.append("the validation rules of \(place) were left out") }
    let type = type(of: attribute, place) + (attribute.isOptional ? "?" : "")
    var property = FrozenType.Property(
      macro: macros.of(attribute, transformer: nil), name: attribute.name, type: type)
    guard let value = attribute.defaultValue else { return property }
    property.value = attribute.type == .transformable ? nil : text(value)
    if case .uuid = value { notes.append("\(place) has the default UUID(), for the one that the model has") }
    if property.value == nil {
      property.remark = "Its default value was left out."
      notes.append("the default value of \(place) was left out")
    }
    return property
  }

  private mutating func type(of attribute: AttributeDescription, _ place: String) -> String {
    check(attribute.name, place)
    if attribute.type == .composite { return composite(attribute, place) }
    if let plain = Self.plain[attribute.type] { return plain }
    let list = attribute.attributeValueClassName
    if attribute.type == .transformable, list == "Array<String>" { return "[String]" }
    if attribute.type == .transformable, list == "Array<Data>" { return "[Data]" }
    reasons.append(
      "\(place) is of type \(attribute.type.name), and the model doesn't contain its Swift type")
    return "Data"
  }

  private mutating func composite(_ attribute: AttributeDescription, _ place: String) -> String {
    let elements = attribute.composite?.elements ?? []
    var name = place.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    while !taken.insert(name).inserted { name += "Value" }
    let isEnumeration = attribute.userInfo["EnumType"] != nil
    let isRaw = elements.count == 1 && elements[0].name == attribute.name
    guard isEnumeration, !isRaw else {
      if isEnumeration {
        notes.append("\(name) represents an enumeration with raw values, which the model doesn't contain")
      }
      var type = FrozenType(name: name, head: "struct \(name): Codable")
      type.properties = elements.map { element in
        FrozenType.Property(
          name: element.name,
          type: self.type(of: element, "\(place).\(element.name)") + (element.isOptional ? "?" : ""))
      }
      values.append(type)
      return name
    }
    for element in elements {
      check(element.name, "\(place).\(element.name)")
      if element.type != .string || !element.isOptional {
        reasons.append("\(place) is an enumeration whose case \(element.name) has associated values")
      }
    }
    values.append(FrozenType(name: name, head: "enum \(name): Codable", cases: elements.map(\.name)))
    return name
  }

  private func text(_ value: AttributeValue) -> String? {
    switch value {
    case .integer(let number): "\(number)"
    case .double(let number): number.isFinite ? "\(number)" : nil
    case .decimal(let digits): "Decimal(string: \(SwiftText.literal(digits)))!"
    case .string(let text): SwiftText.literal(text)
    case .boolean(let isTrue): "\(isTrue)"
    case .date(let seconds): seconds.isFinite ? "Date(timeIntervalSinceReferenceDate: \(seconds))" : nil
    case .binary(let bytes): bytes.isEmpty ? "Data()" : nil
    case .uuid: "UUID()"
    default: nil
    }
  }
}
