package import HeirloomModel

package enum SQLColumnType: String, Hashable, Sendable {
  case integer = "INTEGER"
  case float = "FLOAT"
  /// Numeric affinity: a whole number of seconds is stored as an integer.
  case timestamp = "TIMESTAMP"
  /// Numeric affinity as well.
  case decimal = "DECIMAL"
  case varchar = "VARCHAR"
  case blob = "BLOB"

  package init?(_ type: AttributeType) {
    switch ValueKind(type) {
    case .integer, .boolean: self = .integer
    case .double: self = .float
    case .date: self = .timestamp
    case .decimal: self = .decimal
    case .uuid, .binary: self = .blob
    case .string, .uri: self = .varchar
    case .composite, .number, nil: return nil
    }
  }

  /// Or the type that SQLite treats alike.
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

package struct PhysicalColumn: Hashable, Sendable {
  package let name: String
  package let type: SQLColumnType
  package let role: Role

  package init(name: String, type: SQLColumnType, role: Role) {
    self.name = name
    self.type = type
    self.role = role
  }

  package enum Role: Hashable, Sendable {
    case primaryKey
    case entity
    case optimisticLock
    /// `path` continues with the elements of a composite attribute.
    case attribute(entity: String, path: [String])
    case key(entity: String, relationship: String)
    case keyEntity(entity: String, relationship: String)
    /// The primary key of the object whose to-many relationship without inverse refers to this one.
    case inverselessKey(entity: String, relationship: String)
    /// The place in an ordered to-many relationship: 2048, then steps of 1024, with gaps.
    case order(entity: String, relationship: String)
    case joinKey(entity: String, relationship: String)
    /// The other key of a many-to-many relationship that is its own inverse.
    case reflexiveKey(entity: String, relationship: String)
    /// Migrations keep such a column.
    case unknown

    package var property: (entity: String, path: [String])? {
      switch self {
      case .attribute(let entity, let path): (entity, path)
      case .key(let entity, let name), .keyEntity(let entity, let name), .inverselessKey(let entity, let name),
        .order(let entity, let name), .joinKey(let entity, let name), .reflexiveKey(let entity, let name):
        (entity, [name])
      case .primaryKey, .entity, .optimisticLock, .unknown: nil
      }
    }

    package var isContent: Bool { property != nil || self == .unknown }

    package var isRowKey: Bool {
      switch self {
      case .primaryKey, .joinKey, .reflexiveKey: true
      default: false
      }
    }

    package var isReference: Bool {
      switch self {
      case .key, .inverselessKey, .joinKey, .reflexiveKey: true
      case .primaryKey, .entity, .optimisticLock, .attribute, .keyEntity, .order, .unknown: false
      }
    }
  }
}

package struct AttributeColumn: Hashable, Sendable {
  /// The attribute's name, followed by names of elements for a leaf of a composite.
  package let path: [String]
  package let attribute: AttributeDescription
  package let table: String
  package let name: String
  package let type: SQLColumnType
}

/// As seen from the objects that have the relationship.
package enum RelationshipStorage: Hashable, Sendable {
  /// In the object's own row.
  case key(table: String, column: String, entityColumn: String?)
  /// In the destination's rows.
  case inverseKey(table: String, column: String, entityColumn: String?, orderColumn: String?)
  /// In the destination's rows, in a key that belongs to no relationship there.
  case inverselessKey(table: String, column: String, orderColumn: String?)
  /// In a table of pairs.
  case join(table: String, ownerColumn: String, destinationColumn: String, orderColumn: String?)

  package var table: String {
    switch self {
    case .key(let table, _, _), .inverseKey(let table, _, _, _), .inverselessKey(let table, _, _),
      .join(let table, _, _, _):
      table
    }
  }

  package var orderColumn: String? {
    switch self {
    case .key: nil
    case .inverseKey(_, _, _, let column), .inverselessKey(_, _, let column), .join(_, _, _, let column): column
    }
  }
}
