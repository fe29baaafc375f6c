package import HeirloomModel

/// The SQL type that a column is declared with.
package enum SQLColumnType: String, Hashable, Sendable {
  /// Whole numbers, truth values, keys.
  case integer = "INTEGER"
  /// Floating-point numbers.
  case float = "FLOAT"
  /// Dates. SQLite gives the column numeric affinity, so a whole number of seconds is stored as an integer.
  case timestamp = "TIMESTAMP"
  /// Decimal numbers, with numeric affinity as well.
  case decimal = "DECIMAL"
  /// Text and URIs.
  case varchar = "VARCHAR"
  /// UUIDs, transformable and binary values.
  case blob = "BLOB"

  /// Creates the type of an attribute's column; `nil` for a type that has no column of its own.
  package init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: self = .integer
    case .double, .float: self = .float
    case .date: self = .timestamp
    case .decimal: self = .decimal
    case .string, .uri: self = .varchar
    case .uuid, .transformable, .binary: self = .blob
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// Creates the type with this declaration, or the one that SQLite treats alike.
  init(declaredType: String) {
    if let type = SQLColumnType(rawValue: declaredType.uppercased()) {
      self = type
      return
    }
    switch SQLAffinity(declaredType: declaredType) {
    case .integer: self = .integer
    case .text: self = .varchar
    case .blob: self = .blob
    case .real: self = .float
    case .numeric: self = .decimal
    }
  }
}

/// A table's column as a model requires it.
package struct PhysicalColumn: Hashable, Sendable {
  /// The column's name, unique in its table.
  package let name: String
  /// The declared type.
  package let type: SQLColumnType
  /// The kind of the column's content.
  package let role: Role

  /// Creates a column.
  package init(name: String, type: SQLColumnType, role: Role) {
    self.name = name
    self.type = type
    self.role = role
  }

  /// The kind of a column's content.
  package enum Role: Hashable, Sendable {
    /// The object's primary key.
    case primaryKey
    /// The number of the object's entity.
    case entity
    /// The number of times the object was saved.
    case optimisticLock
    /// The value of an attribute; `path` continues with the elements of a composite one.
    case attribute(entity: String, path: [String])
    /// The primary key of a to-one relationship's destination.
    case key(entity: String, relationship: String)
    /// The entity number of a to-one relationship's destination.
    case keyEntity(entity: String, relationship: String)
    /// The primary key of the object whose to-many relationship without inverse refers to this one.
    case inverselessKey(entity: String, relationship: String)
    /// The place in an ordered to-many relationship: 2048, then steps of 1024, with gaps.
    case order(entity: String, relationship: String)
    /// The primary key of a many-to-many relationship's destination.
    case joinKey(entity: String, relationship: String)
    /// The other key of a many-to-many relationship that is its own inverse.
    case reflexiveKey(entity: String, relationship: String)
    /// A column of the store that no model knows; migrations keep it.
    case unknown

    /// The entity that declares the column's property, and the property's name or the path of an attribute's leaf; `nil`
    /// for a column of no property.
    package var property: (entity: String, path: [String])? {
      switch self {
      case .attribute(let entity, let path): (entity, path)
      case .key(let entity, let name), .keyEntity(let entity, let name), .inverselessKey(let entity, let name),
        .order(let entity, let name), .joinKey(let entity, let name), .reflexiveKey(let entity, let name):
        (entity, [name])
      case .primaryKey, .entity, .optimisticLock, .unknown: nil
      }
    }

    /// True for a property's value and for an unknown value; false for the row's key, entity and version.
    package var isContent: Bool { property != nil || self == .unknown }

    /// True if the value is the key of the row, or part of it.
    package var isRowKey: Bool {
      switch self {
      case .primaryKey, .joinKey, .reflexiveKey: true
      default: false
      }
    }

    /// True if the value is the key of another object.
    package var isReference: Bool {
      switch self {
      case .key, .inverselessKey, .joinKey, .reflexiveKey: true
      case .primaryKey, .entity, .optimisticLock, .attribute, .keyEntity, .order, .unknown: false
      }
    }
  }
}

/// A column that holds an attribute or a leaf of a composite one.
package struct AttributeColumn: Hashable, Sendable {
  /// The attribute's name, followed by names of elements for a leaf of a composite.
  package let path: [String]
  /// The attribute, or the leaf.
  package let attribute: AttributeDescription
  /// The table.
  package let table: String
  /// The column's name.
  package let name: String
  /// The declared type.
  package let type: SQLColumnType
}

/// The place where a relationship's links are stored, as seen from the objects that have the relationship.
package enum RelationshipStorage: Hashable, Sendable {
  /// A key in the object's own row: the destination's primary key and, if it has subentities, its entity number.
  case key(table: String, column: String, entityColumn: String?)
  /// A key in the destination's rows: the inverse's key of this object.
  case inverseKey(table: String, column: String, entityColumn: String?, orderColumn: String?)
  /// A key in the destination's rows that refers to this object and belongs to no relationship there.
  case inverselessKey(table: String, column: String, orderColumn: String?)
  /// A table of pairs: the object's key, the destination's key, and the destination's place in the object's list.
  case join(table: String, ownerColumn: String, destinationColumn: String, orderColumn: String?)

  /// The table with the links.
  package var table: String {
    switch self {
    case .key(let table, _, _), .inverseKey(let table, _, _, _), .inverselessKey(let table, _, _),
      .join(let table, _, _, _):
      table
    }
  }

  /// The column with the place in an ordered relationship; `nil` for an unordered one.
  package var orderColumn: String? {
    switch self {
    case .key: nil
    case .inverseKey(_, _, _, let column), .inverselessKey(_, _, let column), .join(_, _, _, let column): column
    }
  }
}
