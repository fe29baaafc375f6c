/// The tables and columns that Core Data gives a model, by the documented rules and the names that a file has.
struct Layout {
  /// The entity is the one that declares the property.
  struct Name: Hashable, Sendable {
    let entity: String
    let property: String
  }

  let model: XMLModel
  let numbers: [String: Int64]
  let entitiesByNumber: [Int64: String]
  /// Those of the entities' roots.
  let tables: [String: String]
  /// Of attributes, and of the keys of to-one relationships.
  let columns: [Name: String]
  /// An entity's includes itself.
  let subtrees: [String: Set<String>]
  /// Stored properties, inherited ones included.
  let attributes: [String: [XMLModel.Declared<XMLModel.Attribute>]]
  let relationships: [String: [XMLModel.Declared<XMLModel.Relationship>]]

  /// `stored` are the file's numbers; they count if they name all of the model's entities.
  init(_ model: XMLModel, stored: [String: Int64] = [:]) {
    self.model = model
    let walk = Self.walk(model)
    let isNamed = model.entities.allSatisfy { stored[$0.name] != nil }
    var numbers: [String: Int64] = [:]
    for (place, name) in walk.enumerated() { numbers[name] = isNamed ? stored[name] : Int64(place + 1) }
    self.numbers = numbers
    entitiesByNumber = Dictionary(numbers.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    tables = Dictionary(
      uniqueKeysWithValues: walk.map { ($0, "Z" + model.root(of: $0).uppercased()) })
    subtrees = Dictionary(uniqueKeysWithValues: walk.map { ($0, model.subtree(of: $0)) })
    attributes = Dictionary(uniqueKeysWithValues: walk.map { ($0, model.attributes(of: $0)) })
    relationships = Dictionary(uniqueKeysWithValues: walk.map { ($0, model.relationships(of: $0)) })
    columns = Self.columns(model, walk, tables)
  }

  /// As they are numbered: roots by name regardless of case, each followed by its subentities.
  private static func walk(_ model: XMLModel) -> [String] {
    func below(_ parent: String?) -> [String] {
      model.entities.filter { $0.parent == parent }.map(\.name)
        .sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }.flatMap { [$0] + below($0) }
    }
    return below(nil)
  }

  /// The first user of a name in a table gets it bare, the next ones with numbers.
  private static func columns(_ model: XMLModel, _ walk: [String], _ tables: [String: String]) -> [Name: String] {
    var columns: [Name: String] = [:]
    var used: [String: Set<String>] = [:]
    for name in walk {
      guard let entity = model.entity(name), let table = tables[name] else { continue }
      // The reader has sorted the attributes, leaves at the places of their composites.
      let attributes = entity.attributes.filter { !$0.isTransient }
        .sorted { ($0.name.prefix { $0 != "." }) < ($1.name.prefix { $0 != "." }) }
      let keys = entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map(\.name).sorted()
      for (property, base) in attributes.map({ ($0.name, $0.leaf) }) + keys.map({ ($0, $0) }) {
        let bare = "Z" + base.uppercased()
        var column = bare
        var suffix = 0
        while used[table, default: []].contains(column) {
          suffix += 1
          column = "\(bare)\(suffix)"
        }
        used[table, default: []].insert(column)
        columns[Name(entity: name, property: property)] = column
      }
    }
    return columns
  }

  /// Without an inverse, the column is in the destination's table.
  func inverselessColumn(of name: Name) -> String {
    "Z\(numbers[name.entity] ?? 0)\(name.property.uppercased())"
  }

  /// The column, beside the key, that has the number of the target's entity.
  ///
  /// Only relationships to entities that have subentities have one.
  func numberColumn(of name: Name) -> String? {
    guard let column = columns[name], let destination = relationship(name)?.destination,
      subtrees[destination, default: []].count > 1
    else { return nil }
    return "Z\(numbers[destination] ?? 0)_" + column.dropFirst()
  }

  func knownColumns(of table: String) -> Set<String> {
    var known: Set = ["Z_PK", "Z_ENT", "Z_OPT"]
    for (name, column) in columns where tables[name.entity] == table {
      known.insert(column)
      known.insert("Z_FOK_" + column.dropFirst())
      if let number = numberColumn(of: name) { known.insert(number) }
    }
    for entity in model.entities {
      for relationship in entity.relationships
      where relationship.isToMany && !relationship.isTransient && model.inverse(of: relationship) == nil
        && tables[relationship.destination] == table
      {
        let column = inverselessColumn(of: Name(entity: entity.name, property: relationship.name))
        known.formUnion([column, "Z_FOK_" + column.dropFirst()])
      }
    }
    return known
  }

  /// Only a stored one that the entity itself declares.
  func relationship(_ name: Name) -> XMLModel.Relationship? {
    model.entity(name.entity)?.relationships.first { $0.name == name.property && !$0.isTransient }
  }
}
