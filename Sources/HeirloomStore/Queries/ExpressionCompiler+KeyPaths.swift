import HeirloomModel

extension ExpressionCompiler {
  mutating func follow(_ path: String, from start: SQLOperand) throws(CompilationProblem) -> SQLOperand {
    var place = start
    var names = path.names(separatedBy: ".")[...]
    while let name = names.popFirst() {
      if name.hasPrefix("@") { return try collect(String(name), of: place, rest: names.joined(separator: ".")) }
      place = try step(String(name), from: place)
    }
    return place
  }

  private mutating func step(_ name: String, from place: SQLOperand) throws(CompilationProblem) -> SQLOperand {
    switch place {
    case .null: return .null
    case .object(let object): return try property(name, of: object)
    case .composite(let object, let path): return try element(path + [name], of: object)
    case .collection(var members):
      members.element = try memberStep(name, of: &members)
      return .collection(members)
    case .scalar(let term):
      guard name == "length", term.kind == .string else {
        throw .unsupported("The key \"\(name.prefix(200))\" of a value")
      }
      return try textFunction(.length, of: term)
    case .list: throw .unsupported("A key of a list")
    }
  }

  private mutating func memberStep(
    _ name: String, of members: inout SQLCollection
  ) throws(CompilationProblem) -> SQLOperand {
    let next = try step(name, from: members.element)
    guard case .collection(let inner) = next else { return next }
    // A missing member would itself be an element of the list.
    guard case .object(let object) = members.element, case .row = object.place, !members.isNested else {
      throw .unsupported("A to-many path from an object that may be missing")
    }
    members.tables += ", \(inner.tables)"
    members.conditions += inner.conditions
    members.isNested = true
    return inner.element
  }

  private mutating func property(_ name: String, of object: ObjectTerm) throws(CompilationProblem) -> SQLOperand {
    let model = schema.model
    if let attribute = model.attribute(named: name, of: object.entity) {
      guard !attribute.isTransient else { throw .unsupported("The transient attribute \"\(name)\"") }
      if attribute.composite != nil { return .composite(object, path: [name]) }
      return try element([name], of: object)
    }
    guard let relationship = model.relationship(named: name, of: object.entity) else {
      throw .unknownProperty(entity: object.entity, property: name)
    }
    guard let storage = schema.storage(ofRelationship: name, in: object.entity) else {
      throw .unsupported("The transient relationship \"\(name)\"")
    }
    if case .key(_, let column, _) = storage {
      let key = try self.column(column, of: object)
      return .object(ObjectTerm(entity: relationship.destinationEntity, place: .key(key)))
    }
    return .collection(try members(of: object, relationship, storage))
  }

  private mutating func element(_ path: [String], of object: ObjectTerm) throws(CompilationProblem) -> SQLOperand {
    guard let first = path.first, let attribute = schema.model.attribute(named: first, of: object.entity) else {
      throw .unknownProperty(entity: object.entity, property: path.joined(separator: "."))
    }
    guard let column = schema.column(atPath: path, in: object.entity) else {
      guard let element = attribute.element(atPath: path.dropFirst()) else {
        throw .unknownProperty(entity: object.entity, property: path.joined(separator: "."))
      }
      guard element.composite != nil else {
        throw .unsupported("The transient attribute \"\(path.joined(separator: "."))\"")
      }
      return .composite(object, path: path)
    }
    guard let kind = ValueKind(column.attribute.type), !column.attribute.allowsExternalBinaryDataStorage else {
      throw .unsupported("The attribute \"\(path.joined(separator: "."))\", whose values may lie in files,")
    }
    let sql = try self.column(column.name, of: object)
    switch column.attribute.type {
    case .boolean: return .scalar(SQLTerm(sql: "(\(sql) <> 0)", kind: kind, range: 0...1))
    case .integer16: return .scalar(SQLTerm(sql: sql, kind: kind, range: Int64(Int16.min)...Int64(Int16.max)))
    case .integer32: return .scalar(SQLTerm(sql: sql, kind: kind, range: Int64(Int32.min)...Int64(Int32.max)))
    default: return .scalar(SQLTerm(sql: sql, kind: kind))
    }
  }

  mutating func leaves(ofComposite path: [String], of object: ObjectTerm) throws(CompilationProblem) -> [String] {
    var leaves: [String] = []
    for column in schema.columns(ofAttribute: path[0], in: object.entity) where column.path.starts(with: path) {
      leaves.append(try self.column(column.name, of: object))
    }
    return leaves
  }

  /// `NULL` if there is no row.
  private mutating func column(_ name: String, of object: ObjectTerm) throws(CompilationProblem) -> String {
    switch object.place {
    case .row(let alias):
      if case .object(object) = evaluated, !columnsRead.contains(name) { columnsRead.append(name) }
      return "\(alias).\(quote(name))"
    case .key(let key), .knownKey(let key): return try selection(name, of: object.entity, key: key)
    }
  }

  private mutating func selection(
    _ column: String, of entity: String, key: String
  ) throws(CompilationProblem) -> String {
    let place = try physical(entity)
    let alias = alias()
    return "(SELECT \(alias).\(quote(column)) FROM \(qualified(place.table)) AS \(alias)"
      + " WHERE \(alias).\(quote(PhysicalName.primaryKey)) = \(key) AND \(Self.isOf(place, alias)))"
  }

  func physical(_ entity: String) throws(CompilationProblem) -> PhysicalEntity {
    guard let place = schema.entity(named: entity) else {
      throw .unsupported("The entity \"\(entity)\" of another store")
    }
    return place
  }

  private static func isOf(_ entity: PhysicalEntity, _ alias: String) -> String {
    let column = entity.numberSQL(ofRow: alias)
    let numbers = entity.treeNumbers
    return numbers.count == 1
      ? "\(column) = \(numbers.lowerBound)" : "\(column) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
  }

  /// `NULL` if there is no object.
  mutating func key(of object: ObjectTerm) throws(CompilationProblem) -> String {
    switch object.place {
    case .row(let alias): return "\(alias).\(quote(PhysicalName.primaryKey))"
    case .knownKey(let key): return key
    case .key(let key): return try selection(PhysicalName.primaryKey, of: object.entity, key: key)
    }
  }

  // MARK: To-many

  private mutating func members(
    of object: ObjectTerm, _ relationship: RelationshipDescription, _ storage: RelationshipStorage
  ) throws(CompilationProblem) -> SQLCollection {
    let destination = try physical(relationship.destinationEntity)
    let key = try key(of: object)
    let alias = alias()
    let table = "\(qualified(destination.table)) AS \(alias)"
    let own = "\(alias).\(quote(PhysicalName.primaryKey))"
    let conditions: [String]
    switch storage {
    case .key: throw .unsupported("A to-one relationship as a list")
    case .inverseKey(let stored, let column, _, _), .inverselessKey(let stored, let column, _):
      guard stored == destination.table else { throw .unsupported("A relationship to objects elsewhere") }
      conditions = ["\(alias).\(quote(column)) = \(key)"]
    case .join(let join, let owner, let target, _):
      let links = self.alias()
      func selection(_ from: String, _ to: String) -> String {
        "SELECT \(links).\(quote(to)) FROM \(qualified(join)) AS \(links) WHERE \(links).\(quote(from)) = \(key)"
      }
      var sql = selection(owner, target)
      if relationship.inverseRelationship == relationship.name,
        relationship.destinationEntity
          == schema.model.declaringEntity(ofProperty: relationship.name, in: object.entity)?.name
      {
        // It is unknown how Core Data stores links of a relationship that is its own inverse, so either direction
        // counts.
        sql += " UNION \(selection(target, owner))"
      }
      conditions = ["\(own) IN (\(sql))"]
    }
    return SQLCollection(
      tables: table, conditions: conditions,
      element: .object(ObjectTerm(entity: destination.name, place: .row(alias: alias))))
  }

  // MARK: Collection operators

  private mutating func collect(
    _ name: String, of place: SQLOperand, rest: String
  ) throws(CompilationProblem) -> SQLOperand {
    guard let selector = Self.collectionOperators[name] else { throw .unsupported(name) }
    if name == "@count" { return try aggregate(selector, of: place) }
    return try aggregate(selector, of: rest.isEmpty ? place : follow(rest, from: place))
  }

  private static let collectionOperators = [
    "@count": "count:", "@sum": "sum:", "@min": "min:", "@max": "max:", "@avg": "average:",
  ]

  mutating func aggregate(_ selector: String, of place: SQLOperand) throws(CompilationProblem) -> SQLOperand {
    guard case .collection(let members) = place else {
      if case .null = place, selector == "count:" || selector == "sum:" {
        return .scalar(SQLTerm(sql: try constant(.integer(0)), kind: .integer, range: 0...0))
      }
      if case .null = place { return .null }
      throw .unsupported("\(selector) of something other than a relationship")
    }
    guard !members.isNested else { throw .unsupported("\(selector) of a list of lists") }
    if selector == "count:" {
      return .scalar(
        SQLTerm(sql: "(SELECT COUNT(*) FROM \(members.tail))", kind: .integer, range: 0...Int64(UInt32.max)))
    }
    guard case .scalar(let term) = members.element else { throw .unsupported("\(selector) of objects") }
    switch selector {
    case "min:", "max:":
      let function = selector == "min:" ? "MIN" : "MAX"
      return .scalar(
        SQLTerm(sql: "(SELECT \(function)(\(term.sql)) FROM \(members.tail))", kind: term.kind, range: term.range))
    // Sums of floating-point numbers depend on the order of the rows, and on SQLite's version.
    case "sum:" where term.range != nil:
      return .scalar(SQLTerm(sql: "(SELECT COALESCE(SUM(\(term.sql)), 0) FROM \(members.tail))", kind: .integer))
    case "average:" where term.range != nil:
      return .scalar(SQLTerm(sql: "(SELECT AVG(\(term.sql)) FROM \(members.tail))", kind: .double))
    default: throw .unsupported("\(selector) of values other than integers")
    }
  }
}
