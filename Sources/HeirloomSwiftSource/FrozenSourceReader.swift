import HeirloomFormats
import HeirloomModel

/// The types of a frozen schema whose classes are those of an app's source.
struct FrozenSourceReader {
  /// The model of the classes.
  let builder: SwiftDataModelBuilder
  /// What was left out or stays outside, without a full stop.
  private(set) var notes: [String] = []
  /// What can't be frozen, with its place, without a full stop.
  private(set) var reasons: [String] = []
  /// The modules of the types that the app doesn't declare.
  private(set) var imports: Set<String> = []

  private let source: SwiftDataSource
  private let name: String
  /// The structures and enumerations that the classes store, in the order in which they are found.
  private var values: [SwiftDeclaration] = []
  /// The names within the schema, by the full name of the declaration.
  private var paths: [[String]: [String]] = [:]
  /// The structures that lack an initial value which they had.
  private var incomplete: Set<[String]> = []

  /// Finds all types of a schema.
  ///
  /// - Parameters:
  ///   - schema: The schema.
  ///   - source: The declarations.
  ///   - name: The name of the frozen schema.
  init(_ schema: SwiftDataSchemas.Schema, of source: SwiftDataSource, name: String) {
    (self.source, self.name) = (source, name)
    builder = SwiftDataModelBuilder(of: schema.roots, in: source)
    for owner in classes {
      for property in Self.stored(in: owner) where transformer(of: property) == nil {
        if let type = source.type(of: property, in: owner) { find(type) }
      }
    }
    for owner in classes { paths[owner.path] = [owner.name] }
    // A type in a type that is frozen stays in it.
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

  private mutating func find(_ type: SwiftDataType) {
    switch type {
    case .optional(let inner), .array(let inner): find(inner)
    case .dictionary(let key, let value):
      find(key)
      find(value)
    case .declared(let found) where !found.has("Model") && !values.contains(where: { $0.isSame(as: found) }):
      values.append(found)
      for property in Self.stored(in: found) {
        if let type = source.type(of: property, in: found) { find(type) }
      }
      for type in found.cases.flatMap({ associated($0, of: found) }) { find(type.type) }
    default: break
    }
  }

  // MARK: - Declarations

  /// Returns the classes and the values that stand in no other type.
  ///
  /// - Parameter model: The model of the classes.
  /// - Returns: The types, each with those that stand in it.
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
    result.value = isLive ? nil : value(range, as: type, in: owner)
    if result.value == nil {
      incomplete.insert(owner.path)
      let text = SwiftText.oneLine(source.tokens(property.place).text(range))
      result.remark = "The initial value was left out: \(text.prefix(80))"
      notes.append(
        "\(source.text(property.place)): the initial value of \(owner.name).\(property.name) was left out, since it may "
          + "name what stands outside")
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
    if item.isConditional { refuse(item.place, "the case \(item.name) of \(owner.name) stands in a branch of #if") }
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

  /// Codable types of the system that no model class stores as such, though values may hold them.
  private static let known: Set<String> = ["CGFloat", "Int8", "UInt", "UInt16", "URL"]

  /// Returns a type by the names within the schema.
  private mutating func text(_ type: SwiftDataType, isLive: Bool, at place: SwiftPlace) -> String {
    switch type {
    case .optional(let wrapped): return text(wrapped, isLive: isLive, at: place) + "?"
    case .array(let element): return "[\(text(element, isLive: isLive, at: place))]"
    case .dictionary(let key, let value):
      return "[\(text(key, isLive: isLive, at: place)): \(text(value, isLive: isLive, at: place))]"
    case .declared(let declaration):
      return isLive ? declaration.path.joined(separator: ".") : text(declaration)
    case .library(let library):
      guard SwiftDataAttributes.plain[library] == nil else { return library }
      imports.formUnion(source.files[place.file].imports)
      if !isLive, SwiftDataAttributes.structures[library] == nil, !Self.known.contains(library) {
        refuse(
          place, "no file that was read declares the type \(library), and nobody knows here whether it stays as it is")
      }
      return library
    case .other(let text, _), .ambiguous(let text, _):
      if !isLive { refuse(place, "only the compiler knows what the type \(text) is made of") }
      return text
    }
  }

  /// Returns the name of a type, with the schema's before it where another type within a type has the name too.
  private func text(_ declaration: SwiftDeclaration) -> String {
    let path = paths[declaration.path] ?? declaration.path
    let isUnique = paths.values.count { $0.last == path[0] } < 2
    return (isUnique ? path : [name] + path).joined(separator: ".")
  }

  // MARK: - Initial values

  private static let constants: Set<String> = [
    "now", "distantPast", "distantFuture", "zero", "min", "max", "pi", "infinity",
  ]

  /// Returns an initial value that means the same in the frozen schema; `nil` for one that may name what stands outside.
  private func value(_ range: Range<Int>, as type: SwiftDataType?, in owner: SwiftDeclaration) -> String? {
    let tokens = source.tokens(owner.place)
    var wrapped = type
    if case .optional(let inner)? = type { wrapped = inner }
    let text = tokens.text(range)
    let initial = SwiftInitialValue(range, tokens)
    if text == "nil" { return text }
    if let literal = initial.literalType {
      let isPlain = text.hasPrefix("\"") && !text.contains("\\(") && !text.contains("\n")
      return literal != "String" || isPlain ? text : nil
    }
    if tokens.has("[", at: range.lowerBound), tokens.partner(range.lowerBound) == range.upperBound - 1 {
      let inside = tokens.inside(range.lowerBound)
      if inside.count == 1, tokens.has(":", at: inside.lowerBound) { return "[:]" }
      var element: SwiftDataType?
      if case .array(let inner)? = wrapped { element = inner }
      return values(inside, in: owner) { _ in element }.map { "[\($0)]" }
    }
    if tokens.has(".", at: range.lowerBound), range.count == 2, let wrapped {
      return member(tokens.text(range.lowerBound + 1), of: wrapped).map { ".\($0)" }
    }
    if var names = tokens.path(range), let last = names.popLast(), !names.isEmpty {
      let type = source.type(.named(names), in: owner.scope)
      return member(last, of: type).flatMap { name in self.name(of: type).map { "\($0).\(name)" } }
    }
    return initial.call.flatMap { call(source.type($0.type, in: owner.scope), range, in: owner) }
  }

  /// Returns the name of a constant that a type is sure to have.
  private func member(_ name: String, of type: SwiftDataType) -> String? {
    switch type {
    case .declared(let found):
      return found.cases.contains { $0.name == name && $0.values == nil } ? name : nil
    case .library(let library):
      return SwiftDataAttributes.plain[library] != nil && Self.constants.contains(name) ? name : nil
    default: return nil
    }
  }

  /// Returns the name of a plain type, or of one that is frozen.
  private func name(of type: SwiftDataType) -> String? {
    switch type {
    case .declared(let found): paths[found.path] == nil ? nil : text(found)
    case .library(let library): SwiftDataAttributes.plain[library] == nil ? nil : library
    case .array(let element): name(of: element).map { "[\($0)]" }
    default: nil
    }
  }

  /// Returns the call of an initializer that the frozen type has too.
  private func call(_ type: SwiftDataType, _ range: Range<Int>, in owner: SwiftDeclaration) -> String? {
    let tokens = source.tokens(owner.place)
    let opening = range.first { tokens.has("(", at: $0) && tokens.partner($0) == range.upperBound - 1 }
    guard let opening, let name = name(of: type) else { return nil }
    var members: [String: SwiftDataType] = [:]
    if case .declared(let found) = type {
      let all = [found] + source.extensions(of: found.path)
      // (An initializer of its own is not frozen.)
      let hasInitializer = all.contains { part in
        part.body.contains { source.tokens(part.place).has("init", at: $0) }
      }
      guard found.kind == .structure, !hasInitializer, !incomplete.contains(found.path) else { return nil }
      for property in found.properties { members[property.name] = source.type(of: property, in: found) }
    }
    return values(tokens.inside(opening), in: owner) { members[$0] }.map { "\(name)(\($0))" }
  }

  /// Returns the items of a list, or the arguments of a call.
  private func values(
    _ range: Range<Int>, in owner: SwiftDeclaration, type: (String) -> SwiftDataType?
  ) -> String? {
    let tokens = source.tokens(owner.place)
    var result: [String] = []
    for (label, item) in tokens.items(range).map(tokens.labelled) {
      guard let text = value(item, as: type(label), in: owner) else { return nil }
      result.append(label.isEmpty ? text : "\(label): \(text)")
    }
    return result.joined(separator: ", ")
  }
}
