import HeirloomFormats
import HeirloomModel

/// The types of a frozen schema for the classes of an app's source.
struct FrozenSourceReader {
  let builder: SwiftDataModelBuilder
  /// Parts that were omitted or stay outside, without a full stop.
  private(set) var notes: [String] = []
  /// Parts that can't be frozen, each with its place, without a full stop.
  private(set) var reasons: [String] = []
  /// Modules of the types that the app uses but doesn't declare.
  private(set) var imports: Set<String> = []

  private let source: SwiftDataSource
  private let name: String
  /// Structures and enumerations that the classes store, directly or within others.
  private var values: [SwiftDeclaration] = []
  /// Within the schema, by the declaration's full name.
  private var paths: [[String]: [String]] = [:]

  init(_ builder: SwiftDataModelBuilder, of source: SwiftDataSource, name: String) {
    (self.source, self.name, self.builder) = (source, name, builder)
    findValues()
    for owner in classes { paths[owner.path] = [owner.name] }
    // A type that is nested in a frozen type stays in it.
    for value in values.sorted(by: { $0.path.count < $1.path.count }) {
      let around = (classes + values).filter { $0.path.count < value.path.count && value.path.starts(with: $0.path) }
      let outer = around.max { $0.path.count < $1.path.count }.flatMap { paths[$0.path] } ?? []
      paths[value.path] = outer + [value.name]
    }
    let names = Dictionary(grouping: classes + values) { (paths[$0.path] ?? []).joined(separator: ".") }
    for (name, all) in names.sorted(by: { NaturalOrder.precedes($0.key, $1.key) }) where all.count > 1 {
      let places = all.map { source.text($0.place) }.sorted { NaturalOrder.precedes($0, $1) }
      reasons.append("several types would be called \(name): \(places.joined(separator: ", "))")
    }
  }

  private var classes: [SwiftDeclaration] {
    builder.classes.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// True if all types of a versioned schema are declared in it.
  func isNested(in path: [String]) -> Bool { (classes + values).allSatisfy { $0.path.starts(with: path) } }

  private static func stored(in owner: SwiftDeclaration) -> [SwiftProperty] {
    owner.properties.filter { $0.isStored && $0.attribute("Transient") == nil }
  }

  private func transformer(of property: SwiftProperty) -> String? {
    property.attribute("Attribute").flatMap { SwiftDataArguments($0, source.tokens($0.place)).transformerText }
  }

  private mutating func findValues() {
    var waiting = classes.flatMap { owner in
      Self.stored(in: owner).filter { transformer(of: $0) == nil }.compactMap { source.type(of: $0, in: owner) }
    }
    while let type = waiting.popLast() {
      switch type {
      case .optional(let inner), .array(let inner): waiting.append(inner)
      case .dictionary(let key, let value): waiting += [key, value]
      case .declared(let found) where !found.has("Model") && !values.contains(where: { $0.isSame(as: found) }):
        values.append(found)
        waiting += Self.stored(in: found).compactMap { source.type(of: $0, in: found) }
        waiting += found.cases.flatMap { associated($0, of: found).map(\.type) }
      default: break
      }
    }
    values.sort { $0.path.joined(separator: ".").utf8.lexicographicallyPrecedes($1.path.joined(separator: ".").utf8) }
  }

  // MARK: - Declarations

  /// Classes and values that aren't nested in another type, each with its nested types.
  mutating func types(in model: ManagedObjectModel) -> [FrozenType] {
    let written = values.map { (paths[$0.path] ?? [], type(of: $0)) }
    let all =
      classes.compactMap { owner in
        model.entities.first { $0.name == owner.name }.map { ([owner.name], type(of: owner, $0, in: model)) }
      } + written
    func nested(_ item: ([String], FrozenType)) -> FrozenType {
      var type = item.1
      type.inner = all.filter { $0.0.count == item.0.count + 1 && $0.0.starts(with: item.0) }.map(nested)
      return type
    }
    return all.filter { $0.0.count == 1 }.map(nested)
  }

  private mutating func type(
    of owner: SwiftDeclaration, _ entity: EntityDescription, in model: ManagedObjectModel
  ) -> FrozenType {
    let macros = FrozenMacros(model: model, entity: entity)
    var type = FrozenType(name: owner.name, head: "final class \(owner.name)", macros: macros.ofClass)
    for property in Self.stored(in: owner) {
      guard let stored = source.type(of: property, in: owner) else { continue }
      let transformer = transformer(of: property)
      var macro = ""
      if let relationship = entity.relationships.first(where: { $0.name == property.name }) {
        macro = macros.of(relationship)
      } else if let attribute = entity.attributes.first(where: { $0.name == property.name }) {
        macro = macros.of(attribute, transformer: transformer)
      }
      if let transformer {
        notes.append(
          "\(owner.name).\(property.name) stays as it is: its type \(stored) and \(transformer) are not frozen")
        imports.formUnion(source.files[property.place.file].imports)
      }
      type.properties.append(self.property(property, stored, of: owner, macro, isLive: transformer != nil))
    }
    return type
  }

  private mutating func property(
    _ property: SwiftProperty, _ type: SwiftDataType, of owner: SwiftDeclaration, _ macro: String = "",
    isLive: Bool = false
  ) -> FrozenType.Property {
    var result = FrozenType.Property(
      macro: macro, isConstant: property.isConstant, name: property.name,
      type: text(type, isLive: isLive, at: property.place))
    guard let range = property.initialValue else { return result }
    result.value = value(range, as: type, in: owner)
    if result.value == nil {
      let text = SwiftText.oneLine(source.tokens(property.place).text(range))
      result.remark = "The initial value was left out: \(text.prefix(80))"
      notes.append(
        "\(source.text(property.place)): the initial value of \(owner.name).\(property.name) was left out, since it may"
          + " refer to declarations outside it")
    }
    return result
  }

  private mutating func type(of value: SwiftDeclaration) -> FrozenType {
    var raw: AttributeType?
    let reader = SwiftDataAttributes(source: source)
    do throws(SwiftDataAttributes.Problem) {
      raw = try reader.rawType(ofCodable: value)
      guard raw != nil || !source.hasCodingKeys(value) else {
        throw SwiftDataAttributes.Problem(reason: "\(value.name) has coding keys")
      }
    } catch {
      refuse(value.place, error.reason)
    }
    let inherited = raw.map { $0 == .string ? "String, Codable" : "Int, Codable" } ?? "Codable"
    var type = FrozenType(name: value.name, head: "\(value.kind.rawValue) \(value.name): \(inherited)")
    type.cases = value.cases.map { text($0, of: value) }
    guard value.kind == .structure else { return type }
    for property in Self.stored(in: value) {
      guard property.isPlainMember, let stored = source.type(of: property, in: value) else {
        refuse(property.place, "only the compiler knows how \(value.name).\(property.name) is stored")
        continue
      }
      type.properties.append(self.property(property, stored, of: value))
    }
    return type
  }

  private mutating func refuse(_ place: SwiftPlace, _ reason: String) {
    reasons.append("\(source.text(place)): \(reason)")
  }

  // MARK: - Cases

  private mutating func text(_ item: SwiftCase, of owner: SwiftDeclaration) -> String {
    if item.isConditional { refuse(item.place, "the case \(item.name) of \(owner.name) is in a branch of #if") }
    var text = item.isQuoted ? "`\(item.name)`" : item.name
    if item.values != nil {
      let values = associated(item, of: owner).map { $0.label + self.text($0.type, isLive: false, at: item.place) }
      text += "(\(values.joined(separator: ", ")))"
    }
    guard let range = item.rawValue else { return text }
    return "\(text) = \(source.tokens(item.place).text(range))"
  }

  private func associated(_ item: SwiftCase, of owner: SwiftDeclaration) -> [(label: String, type: SwiftDataType)] {
    let tokens = source.tokens(item.place)
    return tokens.items(item.values ?? 0..<0).map { range in
      let (label, value) = tokens.labelled(range)
      var reader = SwiftTypeReader(tokens, at: value.lowerBound)
      let type = reader.type().map { source.type($0, in: owner.scope) } ?? .other(tokens.text(value), models: [])
      return (label.isEmpty ? "" : "\(label): ", type)
    }
  }

  // MARK: - Types

  /// Codable types of the system that no model class stores as such, but values may.
  private static let known: Set<String> = ["CGFloat", "Int8", "UInt", "UInt16", "URL"]

  private mutating func text(_ type: SwiftDataType, isLive: Bool, at place: SwiftPlace) -> String {
    switch type {
    case .optional(let wrapped): return text(wrapped, isLive: isLive, at: place) + "?"
    case .array(let element): return "[\(text(element, isLive: isLive, at: place))]"
    case .dictionary(let key, let value):
      return "[\(text(key, isLive: isLive, at: place)): \(text(value, isLive: isLive, at: place))]"
    case .declared(let declaration):
      return isLive ? declaration.path.joined(separator: ".") : text(declaration)
    case .library(let library):
      if let first = library.split(separator: ".").first.map(String.init),
        paths.values.contains(where: { $0.last == first })
      {
        refuse(place, "it uses \(library), but a type with that name is frozen")
      }
      guard SwiftDataAttributes.plain[library] == nil else { return library }
      imports.formUnion(source.files[place.file].imports)
      if !isLive, SwiftDataAttributes.structures[library] == nil, !Self.known.contains(library) {
        refuse(
          place, "no file that was read declares the type \(library), so it isn't known whether it will change")
      }
      return library
    case .other(let text, _), .ambiguous(let text, _):
      if !isLive { refuse(place, "only the compiler can resolve the type \(text)") }
      return text
    }
  }

  /// Prefixed with the schema's name where another nested type has the same name.
  private func text(_ declaration: SwiftDeclaration) -> String {
    let path = paths[declaration.path] ?? declaration.path
    let isUnique = paths.values.count { $0.last == path.first } < 2
    return (isUnique ? path : [name] + path).joined(separator: ".")
  }

  // MARK: - Initial values

  private static let constants: Set<String> = ["now", "distantPast", "distantFuture", "zero", "min", "max"]
  /// Argument labels of the system's initializers of plain types; an app's own initializers have
  /// others.
  private static let labels: Set<String> = ["", "timeIntervalSince1970", "timeIntervalSinceReferenceDate"]

  private static let depthLimit = 32

  /// Equivalent in the frozen schema; `nil` if the value may refer to something outside.
  private func value(
    _ range: Range<Int>, as type: SwiftDataType, in owner: SwiftDeclaration, depth: Int = 0
  ) -> String? {
    guard depth < Self.depthLimit else { return nil }
    let tokens = source.tokens(owner.place)
    var type = type
    if case .optional(let inner) = type { type = inner }
    let (text, initial) = (tokens.text(range), SwiftInitialValue(range, tokens))
    if text == "nil" { return text }
    if let literal = initial.literalType {
      let isPlain = text.hasPrefix("\"") && !text.contains("\\(") && !text.contains("\n")
      return literal != "String" || isPlain ? text : nil
    }
    if tokens.has(".", at: range.lowerBound), range.count == 2 {
      let member = tokens.text(range.lowerBound + 1)
      return name(of: type, having: member).map { _ in ".\(member)" }
    }
    if var names = tokens.path(range), let member = names.popLast(), !names.isEmpty {
      return name(of: source.type(.named(names), in: owner.scope), having: member).map { "\($0).\(member)" }
    }
    // A list, or an initializer call.
    let opening = range.first { tokens.tokens[$0].kind == .opening && tokens.partner($0) == range.upperBound - 1 }
    guard let opening else { return nil }
    let inside = tokens.inside(opening)
    let isList = opening == range.lowerBound && tokens.has("[", at: opening)
    if isList, inside.count == 1, tokens.has(":", at: inside.lowerBound) { return "[:]" }
    if isList, case .array(let element) = type { type = element }
    let called = initial.call.flatMap { name(of: source.type($0.type, in: owner.scope)) }
    guard isList || called != nil else { return nil }
    var items: [String] = []
    for (label, item) in tokens.items(inside).map(tokens.labelled) {
      guard Self.labels.contains(label), let text = value(item, as: type, in: owner, depth: depth + 1) else {
        return nil
      }
      items.append(label.isEmpty ? text : "\(label): \(text)")
    }
    return called.map { "\($0)(\(items.joined(separator: ", ")))" } ?? "[\(items.joined(separator: ", "))]"
  }

  /// Of an enumeration with the case, of a plain type with the constant, or of a list of plain
  /// types.
  private func name(of type: SwiftDataType, having member: String? = nil) -> String? {
    switch type {
    case .declared(let found):
      return found.cases.contains { $0.name == member && $0.values == nil } ? text(found) : nil
    case .library(let library) where SwiftDataAttributes.plain[library] != nil:
      return member.map(Self.constants.contains) ?? true ? library : nil
    case .array(let element): return member == nil ? name(of: element).map { "[\($0)]" } : nil
    default: return nil
    }
  }
}
