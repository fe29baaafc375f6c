package struct SwiftDataSchemas {
  /// A list of classes from which SwiftData generates a model.
  package struct Schema {
    package enum Kind: String, Sendable {
      case versionedSchema
      /// `Schema([A.self])`
      case schema
      /// `ModelContainer(for: A.self)`, also as a modifier.
      case modelContainer
      /// A list that the user gives by name.
      case root
    }

    package let kind: Kind
    /// Of the type; for an unnamed list, the word before it.
    package let name: String
    /// `nil` for names that the user gives.
    package let place: SwiftPlace?
    /// Where the same classes are listed without a name.
    package var otherPlaces: [SwiftPlace] = []
    /// Such as `2.0.0`.
    package var identifier: String?
    package var roots: [SwiftDeclaration] = []
    package var faults: [Fault] = []
  }

  package struct Plan {
    package let name: String
    package let place: SwiftPlace
    package var schemas: [String] = []
    package var schemasPlace: SwiftPlace?
    package var stages: [Stage] = []
    package var stagesPlace: SwiftPlace?
    package var faults: [Fault] = []
    /// The list of schemas was understood completely.
    package var hasAllSchemas: Bool = false
    var hasAllStages: Bool = false
  }

  package struct Stage {
    package enum Kind: String, Sendable { case lightweight, custom }

    package let kind: Kind
    package let source: String
    package let destination: String
    package let place: SwiftPlace
    /// Closures, by their labels `willMigrate` and `didMigrate`.
    var code: [String: Range<Int>] = [:]
    /// The types around the stage.
    var scope: [String] = []
  }

  /// A part of the source that only the compiler understands.
  package struct Fault {
    package let place: SwiftPlace?
    /// Without a full stop.
    package let reason: String
  }

  /// Versioned ones by name, then the containers' lists in file order.
  package private(set) var schemas: [Schema] = []
  package private(set) var plans: [Plan] = []

  /// With declarations in extensions of aliases resolved.
  package let source: SwiftDataSource

  private struct ClassList: Hashable {
    let places: Set<SwiftPlace>
    let identifier: String?
  }
  /// Positions of the distinct lists of containers.
  private var lists: [ClassList: Int] = [:]

  package init(_ source: SwiftDataSource) {
    let source = source.resolvingExtensions()
    self.source = source
    for declaration in source.declarations where source.conforms(declaration, to: ["VersionedSchema"]) {
      guard declaration.kind != .interface else { continue }
      schemas.append(versionedSchema(declaration))
    }
    for declaration in source.declarations where source.conforms(declaration, to: ["SchemaMigrationPlan"]) {
      guard declaration.kind != .interface else { continue }
      plans.append(plan(declaration))
    }
    for file in source.files.indices { readContainers(in: file) }
  }

  /// Of classes, such as `Chat` or `SchemaV1.Chat`, or the versioned schema of the only name; an
  /// unknown name is a fault of the schema.
  package func schema(of names: [String]) -> Schema {
    if names.count == 1, let known = schemas.first(where: { $0.kind == .versionedSchema && $0.name == names[0] }) {
      return known
    }
    var schema = Schema(kind: .root, name: names.joined(separator: ", "), place: nil)
    for name in names {
      let item = SwiftDataTypeList.Item(names: name.split(separator: ".").map(String.init), scope: [], place: nil)
      add(item, to: &schema.roots, &schema.faults)
    }
    return schema
  }

  // MARK: - Versioned schemas

  private func versionedSchema(_ declaration: SwiftDeclaration) -> Schema {
    let name = declaration.path.joined(separator: ".")
    var schema = Schema(kind: .versionedSchema, name: name, place: declaration.place)
    if let found = source.sharedProperty("versionIdentifier", of: ["Self"], from: declaration.path) {
      schema.identifier = identifier(found.property)
    }
    read("models", of: declaration, into: &schema.roots, &schema.faults)
    return schema
  }

  private func read(
    _ name: String, of owner: SwiftDeclaration, into types: inout [SwiftDeclaration], _ faults: inout [Fault]
  ) {
    guard let (property, path) = source.sharedProperty(name, of: ["Self"], from: owner.path),
      let value = property.body ?? property.initialValue
    else {
      faults.append(Fault(place: owner.place, reason: "its list \"\(name)\" is not declared here, or more than once"))
      return
    }
    take(SwiftDataTypeList(value, file: property.place.file, in: path, of: source), into: &types, &faults)
  }

  private func take(_ list: SwiftDataTypeList, into types: inout [SwiftDeclaration], _ faults: inout [Fault]) {
    for item in list.items { add(item, to: &types, &faults) }
    faults += list.unread.map {
      Fault(
        place: $0.place, reason: "only the compiler can determine the classes in \"\($0.text)\"")
    }
  }

  private func add(_ item: SwiftDataTypeList.Item, to types: inout [SwiftDeclaration], _ faults: inout [Fault]) {
    if let found = source.declaration(of: item.names, in: item.scope) {
      if !types.contains(where: { $0.place == found.place }) { types.append(found) }
      return
    }
    let name = item.names.joined(separator: ".")
    if case .ambiguous(let all)? = source.meaning(of: item.names, in: item.scope) {
      let places = NameList.text(all.map { source.text($0.place) })
      faults.append(Fault(place: item.place, reason: "\"\(name)\" is declared more than once, in \(places)"))
    } else {
      faults.append(Fault(place: item.place, reason: "no file that was read declares \"\(name)\""))
    }
  }

  /// The numbers of `Schema.Version(2, 0, 0)`, joined by dots.
  private func identifier(_ property: SwiftProperty) -> String? {
    (property.body ?? property.initialValue).flatMap { numbers($0, source.tokens(property.place)) }
  }

  private func numbers(_ range: Range<Int>, _ tokens: SwiftTokens) -> String? {
    let value = tokens.value(of: range)
    guard let opening = value.first(where: { tokens.has("(", at: $0) }), !value.isEmpty,
      tokens.partner(opening) == value.upperBound - 1
    else { return nil }
    let numbers = tokens.items(tokens.inside(opening)).map { tokens.text($0) }
    return numbers.count == 3 && numbers.allSatisfy { Int($0) != nil } ? numbers.joined(separator: ".") : nil
  }

  // MARK: - Plans

  private func plan(_ declaration: SwiftDeclaration) -> Plan {
    var plan = Plan(name: declaration.path.joined(separator: "."), place: declaration.place)
    var types: [SwiftDeclaration] = []
    read("schemas", of: declaration, into: &types, &plan.faults)
    plan.hasAllSchemas = plan.faults.isEmpty
    let known = plan.faults.count
    plan.schemas = types.map { $0.path.joined(separator: ".") }
    plan.schemasPlace = source.sharedProperty("schemas", of: ["Self"], from: declaration.path)?.property.place
    if let (property, path) = source.sharedProperty("stages", of: ["Self"], from: declaration.path),
      let value = property.body ?? property.initialValue
    {
      plan.stagesPlace = property.place
      readStages(value, property.place.file, path, &plan, depth: 0)
    } else {
      plan.faults.append(
        Fault(place: declaration.place, reason: "its list \"stages\" is not declared here, or more than once"))
    }
    plan.hasAllStages = plan.faults.count == known
    return plan
  }

  private func readStages(_ range: Range<Int>, _ file: Int, _ scope: [String], _ plan: inout Plan, depth: Int) {
    let tokens = source.files[file].tokens
    let range = tokens.value(of: range)
    let place = SwiftPlace(file: file, line: tokens.line(range.lowerBound))
    let first = range.lowerBound
    var parts = tokens.parts(range) { tokens.has("+", at: $0) }
    if tokens.has("[", at: first), tokens.partner(first) == range.upperBound - 1 {
      parts = tokens.items(tokens.inside(first))
      // A plan with one version has no stage.
      if parts.isEmpty { return }
    } else if parts.count == 1 {
      if let stage = stage(range, tokens, scope, place) { return plan.stages.append(stage) }
      parts = []
    }
    // Nested lists can yield very many stages, more than any plan has.
    guard plan.stages.count + plan.faults.count < 10_000 else { return }
    if depth < 16, !parts.isEmpty {
      for part in parts { readStages(part, file, scope, &plan, depth: depth + 1) }
      return
    }
    if depth < 16, var names = tokens.path(range), let name = names.popLast(),
      let (property, path) = source.sharedProperty(name, of: names, from: scope),
      let value = property.body ?? property.initialValue
    {
      return readStages(value, property.place.file, path, &plan, depth: depth + 1)
    }
    plan.faults.append(
      Fault(place: place, reason: "only the compiler can determine the stages in \"\(tokens.excerpt(range))\""))
  }

  /// Such as `.lightweight(fromVersion: A.self, toVersion: B.self)`; `nil` for anything else.
  private func stage(_ range: Range<Int>, _ tokens: SwiftTokens, _ scope: [String], _ place: SwiftPlace) -> Stage? {
    guard let opening = range.first(where: { tokens.has("(", at: $0) }), opening > range.lowerBound,
      let kind = Stage.Kind(rawValue: tokens.text(opening - 1)),
      let trailing = tokens.trailingClosures(tokens.partner(opening) + 1..<range.upperBound)
    else { return nil }
    let arguments = tokens.items(tokens.inside(opening)).map(tokens.labelled) + trailing
    func schema(_ label: String) -> String? {
      let value = arguments.first { $0.label == label }?.value
      guard let value, let names = tokens.path(value), names.last == "self" else { return nil }
      return source.declaration(of: names.dropLast(), in: scope)?.path.joined(separator: ".")
        ?? names.dropLast().joined(separator: ".")
    }
    guard let from = schema("fromVersion"), let to = schema("toVersion") else { return nil }
    var stage = Stage(kind: kind, source: from, destination: to, place: place)
    stage.scope = scope
    // The first trailing closure has no label; it is the first argument missing in the parentheses.
    let first = arguments.contains { $0.label == "willMigrate" } ? "didMigrate" : "willMigrate"
    for argument in arguments where !tokens.has("nil", at: argument.value.lowerBound) {
      let label = argument.label.isEmpty ? first : argument.label
      if label == "willMigrate" || label == "didMigrate" { stage.code[label] = argument.value }
    }
    return stage
  }

  // MARK: - Containers

  private mutating func readContainers(in file: Int) {
    let tokens = source.files[file].tokens
    for index in tokens.tokens.indices where tokens.has("(", at: index + 1) && tokens.isWord(at: index) {
      let kind: Schema.Kind
      switch tokens.text(index) {
      case "Schema": kind = .schema
      case "ModelContainer", "modelContainer": kind = .modelContainer
      default: continue
      }
      let items = tokens.items(tokens.inside(index + 1)).map(tokens.labelled)
      let listed =
        kind == .schema
        ? items.prefix { $0.label.isEmpty }
        : items.drop { $0.label != "for" }.enumerated().prefix { $0.offset == 0 || $0.element.label.isEmpty }
          .map(\.element)[...]
      // A container with a named schema, or with one in a variable, has no list of its own.
      guard let first = listed.first?.value, tokens.path(first).map({ $0.last == "self" }) ?? true,
        !tokens.has("Schema", at: first.lowerBound)
      else { continue }
      var schema = Schema(
        kind: kind, name: tokens.text(index), place: SwiftPlace(file: file, line: tokens.line(index)))
      let scope = source.path(around: index, in: file)
      for item in listed {
        take(
          SwiftDataTypeList(item.value, file: file, in: scope, of: source), into: &schema.roots, &schema.faults)
      }
      if let version = items.first(where: { $0.label == "version" }) {
        schema.identifier = numbers(version.value, tokens)
      }
      append(schema)
    }
  }

  /// The same list in a preview or a test is the same schema.
  private mutating func append(_ schema: Schema) {
    guard schema.faults.isEmpty else { return schemas.append(schema) }
    let list = ClassList(places: Set(schema.roots.map(\.place)), identifier: schema.identifier)
    if let equal = lists[list] {
      if let place = schema.place { schemas[equal].otherPlaces.append(place) }
    } else {
      lists[list] = schemas.count
      schemas.append(schema)
    }
  }
}

extension SwiftTokens {
  func trailingClosures(_ range: Range<Int>) -> [(label: String, value: Range<Int>)]? {
    var result: [(label: String, value: Range<Int>)] = []
    var index = range.lowerBound
    while index < range.upperBound {
      let isLabelled = isWord(at: index) && has(":", at: index + 1)
      let start = isLabelled ? index + 2 : index
      guard has("{", at: start) else { return nil }
      result.append((isLabelled ? text(index) : "", start..<next(start)))
      index = next(start)
    }
    return result
  }
}
