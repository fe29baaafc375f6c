import HeirloomFormats
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// Writes files with the rows that are left out of the migrated store.
///
/// Each line is a JSON object with everything that the store has of a row. Dates are seconds since 2001-01-01 UTC and
/// bytes are base64. Externally stored bytes are represented by their file name. A value that isn't stored in the form
/// of its attribute's type is written by its storage class, so no bit of it is lost.
final class QuarantineWriter {
  private enum Cell: Equatable {
    case value(SQLiteValue)
    /// The bytes of a text that isn't valid in the database's encoding.
    case damagedText([UInt8])

    var integer: Int64? { if case .value(let value) = self { value.integer } else { nil } }
    var isNull: Bool { self == .value(.null) }
  }

  private let connection: Connection
  private let statements: StatementCache
  private let query: QuarantineQuery
  private let schema: PhysicalSchema
  private let destination: ManagedObjectModel
  private let storeIdentifier: String
  private let supportFolder: String

  /// Another file is started at this size, so memory never holds all rows at once.
  static let partByteCount = 8 << 20

  init(_ query: QuarantineQuery, of plan: MigrationPlan, store: RunStore) throws {
    self.query = query
    connection = store.connection
    statements = StatementCache(connection: store.connection)
    destination = plan.destination
    let actual = try ActualSchema(of: connection, database: SchemaName.store)
    let known = PhysicalSchema(model: plan.source, configuration: plan.configuration, actual: actual)
    schema = known.adding(actual.unknownColumns(under: known))
    storeIdentifier = try StoreMetadata(connection: connection, database: SchemaName.store, path: store.path).identifier
    supportFolder =
      StoreLocation.supportName(forStore: PathText.split(store.externalPath).name) + "/_EXTERNAL_DATA"
  }

  /// Throws if it finds another number of rows than was planned.
  func write(to folder: String, files: any FileOperations, attributes: FileAttributes) throws {
    var part: [UInt8] = []
    var count: Int64 = 0
    var parts = try files.names(in: folder).compactMap(StoreLocation.quarantinePart).max() ?? 0
    func finishPart() throws {
      parts += 1
      let path = PathText.join(folder, StoreLocation.quarantineDraftName(part: parts))
      try files.writeNewFile(path, bytes: part, attributes: attributes)
      part.removeAll(keepingCapacity: true)
    }
    for sql in query.queries {
      let rows = try connection.prepare(sql)
      while try rows.step() {
        part += try line(
          key: rows.value(at: 0), entity: rows.value(at: 1), decision: rows.value(at: 2), twin: rows.value(at: 3),
          twinEntity: rows.value(at: 4))
        part.append(UInt8(ascii: "\n"))
        count += 1
        if part.count >= Self.partByteCount { try finishPart() }
      }
    }
    if !part.isEmpty { try finishPart() }
    guard count == query.rows else {
      throw MigrationError.unexpectedRowCount(
        step: "Write rows into quarantine", expected: query.rows, written: count)
    }
  }

  private func rows(_ sql: String, ofKey key: Int64) throws(SQLiteError) -> [[Cell]] {
    try statements.withStatement(sql, [.integer(key)]) { statement throws(SQLiteError) in
      var rows: [[Cell]] = []
      while try statement.step() { rows.append((0..<statement.columnCount).map { Self.cell(statement, $0) }) }
      return rows
    }
  }

  private static func cell(_ row: borrowing Statement, _ column: Int) -> Cell {
    guard row.storageClass(at: column) == .text else { return .value(row.value(at: column)) }
    // Reading them as text would convert them.
    let bytes = row.withBytes(at: column) { Array($0) }
    let value = row.value(at: column)
    // Invalid bytes are decoded as this character.
    return value.text?.unicodeScalars.contains("\u{FFFD}") == true && value.text.map { Array($0.utf8) } != bytes
      ? .damagedText(bytes) : .value(value)
  }

  // MARK: A row

  private func line(
    key: SQLiteValue, entity: SQLiteValue, decision: SQLiteValue, twin: SQLiteValue, twinEntity: SQLiteValue
  ) throws -> [UInt8] {
    guard let key = key.integer, let entity = found(entity.integer),
      let index = decision.integer.flatMap({ Int(exactly: $0) }),
      query.decisions.indices.contains(index)
    else { throw MigrationError.storeContradictsModel(reason: "a row for quarantine has an unknown entity number") }
    let decision = query.decisions[index]
    var other: String?
    if let twinKey = twin.integer, let twin = found(twinEntity.integer) { other = uri(twin.name, twinKey) }
    var writer = CanonicalJSONWriter(isIndented: false)
    writer.beginObject()
    writer.key("attributes")
    try writeAttributes(of: entity, key: key, to: &writer)
    writer.key("decision")
    writer.string("\(decision)")
    writer.key("entity")
    writer.string(entity.name)
    writer.key("key")
    writer.integer(key)
    let links = try links(of: entity, key: key)
    writeDetails(links, to: &writer)
    writer.key("objectID")
    writer.string(uri(entity.name, key))
    writePositions(links, to: &writer)
    writer.key("reason")
    writer.string(reason(decision, other: other))
    writer.key("relationships")
    writeRelationships(links, to: &writer)
    let written = Set(attributes(of: entity).flatMap(\.columns).map(\.name) + links.flatMap(\.columns))
    // The other cells: values outside the model or of another entity, and links of other objects without an inverse.
    let names = (schema.table(named: entity.table)?.columns ?? [])
      .filter { $0.role.isContent && !written.contains($0.name) }.map(\.name)
    writeUnknown(names, try cells(names, of: entity, key: key)[...], to: &writer)
    writer.endObject()
    return writer.bytes
  }

  private func found(_ number: Int64?) -> PhysicalEntity? {
    number.flatMap { Int(exactly: $0) }.flatMap { schema.entity(numbered: $0) }
  }

  private func uri(_ entity: String, _ key: Int64) -> String {
    ManagedObjectID(storeIdentifier: storeIdentifier, entityName: entity, primaryKey: key).uriRepresentation
  }

  private func reason(_ decision: DataDecision, other: String?) -> String {
    let names = decision.properties.joined(separator: ", ")
    if let other { return "It is equal to \(other) in \(names), and only one of them can stay." }
    guard let name = decision.properties.first else {
      return "The entity \"\(decision.entity)\" is abstract now and can have no objects of its own."
    }
    if destination.relationship(named: name, of: decision.entity) != nil {
      return "It has no object for the relationship \"\(decision.entity).\(name)\", which is now required."
    }
    return "It has no valid value for \"\(decision.entity).\(names)\"."
  }

  // MARK: Attributes

  private func attributes(
    of entity: PhysicalEntity
  ) -> [(attribute: AttributeDescription, columns: [AttributeColumn])] {
    schema.model.attributes(of: entity.name).filter { !$0.isTransient }
      .map { ($0, schema.columns(ofAttribute: $0.name, in: entity.name)) }
  }

  private func writeAttributes(
    of entity: PhysicalEntity, key: Int64, to writer: inout CanonicalJSONWriter
  ) throws {
    let attributes = attributes(of: entity)
    var values = try cells(attributes.flatMap(\.columns).map(\.name), of: entity, key: key)[...]
    writer.beginObject()
    for (attribute, leaves) in attributes {
      writer.key(attribute.name)
      if attribute.composite == nil {
        write(values.popFirst() ?? .value(.null), of: leaves.first?.attribute ?? attribute, to: &writer)
      } else {
        writer.beginObject()
        for leaf in leaves {
          writer.key(leaf.path.dropFirst().joined(separator: "."))
          write(values.popFirst() ?? .value(.null), of: leaf.attribute, to: &writer)
        }
        writer.endObject()
      }
    }
    writer.endObject()
  }

  private func cells(_ names: [String], of entity: PhysicalEntity, key: Int64) throws -> [Cell] {
    guard !names.isEmpty else { return [] }
    // SQLite allows 2000 result columns, and a table has no more.
    return try rows(
      "SELECT \(names.map { "s.\(quote($0))" }.joined(separator: ", "))"
        + " FROM \(quote(SchemaName.store)).\(quote(entity.table)) AS s"
        + " WHERE s.\(quote(PhysicalName.primaryKey)) = ?1", ofKey: key
    ).first ?? []
  }

  private func member(_ name: String, _ text: String, to writer: inout CanonicalJSONWriter) {
    writer.beginObject()
    writer.key(name)
    writer.string(text)
    writer.endObject()
  }

  private func write(_ cell: Cell, to writer: inout CanonicalJSONWriter) {
    switch cell {
    case .value(.null): writer.null()
    case .value(.integer(let number)): writer.integer(number)
    case .value(.real(let number)):
      if number.isFinite { writer.double(number) } else { writer.string("\(number)") }
    case .value(.text(let text)): writer.string(text)
    case .value(.blob(let bytes)): member("base64", bytes.base64, to: &writer)
    case .damagedText(let bytes): member("textBase64", bytes.base64, to: &writer)
    }
  }

  private func writeUnknown(_ names: [String], _ values: ArraySlice<Cell>, to writer: inout CanonicalJSONWriter) {
    let columns = zip(names, values).filter { !$0.1.isNull }.ordered { $0.0.utf16Precedes($1.0) }
    guard !columns.isEmpty else { return }
    writer.key("unknownColumns")
    writer.beginObject()
    for (name, value) in columns {
      writer.key(name)
      write(value, to: &writer)
    }
    writer.endObject()
  }

  private func write(_ cell: Cell, of attribute: AttributeDescription, to writer: inout CanonicalJSONWriter) {
    guard case .value(let stored) = cell else { return write(cell, to: &writer) }
    switch ValueCoding.decode(stored, for: attribute) {
    case .value(nil): writer.null()
    case .value(let value?):
      // SQLite stores a whole decimal number as an integer.
      guard attribute.type == .decimal || (try? ValueCoding.encode(value, for: attribute)) == stored else {
        return write(cell, to: &writer)
      }
      switch value.content {
      case .integer(let number): writer.integer(number)
      case .real(let number): if number.isFinite { writer.double(number) } else { writer.string("\(number)") }
      case .flag(let flag): writer.boolean(flag)
      case .text(let text): writer.string(text)
      case .bytes(let bytes):
        if value.kind == .uuid { writer.string(bytes.uuidText) } else { member("base64", bytes.base64, to: &writer) }
      // No column holds one.
      case .elements: writer.null()
      }
    case .externalFile(let name): member("file", supportFolder + "/" + name, to: &writer)
    case .undecodable: write(cell, to: &writer)
    }
  }

  // MARK: Links

  private struct Links {
    let relationship: RelationshipDescription
    let links: [Link]
    /// The columns of the join table outside the model.
    let unknownColumns: [String]
    /// The columns of the object's row that hold the links.
    let columns: [String]
  }

  private struct Link {
    let uri: String
    /// The target's position among the object's targets.
    let position: Int64?
    /// The object's position among the target's objects.
    let inversePosition: Int64?
    let unknown: ArraySlice<Cell>
    /// True for the other object's link, by a relationship that is its own inverse.
    let isReversed: Bool

    var hasDetails: Bool { position != nil || inversePosition != nil || unknown.contains { !$0.isNull } }
  }

  private func links(of entity: PhysicalEntity, key: Int64) throws -> [Links] {
    try schema.model.relationships(of: entity.name).compactMap { relationship in
      guard !relationship.isTransient,
        let query = schema.links(of: relationship.name, in: entity.name, isReversed: false, usesIndexes: true),
        let target = schema.table(ofEntity: relationship.destinationEntity)?.name
      else { return nil }
      let unknown = query.pairs.flatMap { schema.unknownColumns[$0.table] }?.map(\.name) ?? []
      var found = try links(by: query, with: unknown, to: relationship.destinationEntity, in: target, key, false)
      if query.pairs != nil, schema.model.storedInverse(of: relationship)?.relationship.name == relationship.name,
        query.ownerRoot == query.targetRoot,
        let back = schema.links(of: relationship.name, in: entity.name, isReversed: true, usesIndexes: true)
      {
        found += try links(by: back, with: unknown, to: relationship.destinationEntity, in: target, key, true)
      }
      var columns: [String?] = []
      // A value that isn't a key, or a position without a link, is among the other values of the row.
      if case .key(_, let key, let number)? = schema.storage(ofRelationship: relationship.name, in: entity.name),
        let link = found.first
      {
        let order = link.inversePosition.flatMap { _ in schema.inverseOrder(of: relationship.name, in: entity.name) }
        columns = [key, number, order]
      }
      return Links(
        relationship: relationship, links: found, unknownColumns: unknown, columns: columns.compactMap(\.self))
    }
  }

  private func links(
    by query: LinkQuery, with unknown: [String], to entity: String, in table: String, _ key: Int64, _ isReversed: Bool
  ) throws -> [Link] {
    let sql = query.pairs.map { LinkQuery.select($0, with: unknown, usesIndexes: true) } ?? query.sql
    let places = [(query.isOrdered, "l.position"), (query.isInverseOrdered, "l.inverse_position")]
      .map { $0.0 ? $0.1 : "NULL" }
    // The left join keeps a key that refers to no object: the file has everything that the store has.
    let rows = try rows(
      "SELECT l.target, t.\(quote(PhysicalName.entity)), \(places.joined(separator: ", "))"
        + unknown.indices.map { ", l.\(LinkQuery.other($0))" }.joined() + " FROM (\(sql)) AS l"
        + " LEFT JOIN \(quote(SchemaName.store)).\(quote(table)) AS t ON t.\(quote(PhysicalName.primaryKey)) = l.target"
        + " WHERE l.owner = ?1 ORDER BY \(places[0]), l.target", ofKey: key)
    return rows.compactMap { row in
      row[0].integer.map { other in
        Link(
          uri: uri(found(row[1].integer)?.name ?? entity, other), position: row[2].integer,
          inversePosition: row[3].integer,
          unknown: row[4...], isReversed: isReversed)
      }
    }
  }

  private func writeDetails(_ links: [Links], to writer: inout CanonicalJSONWriter) {
    let detailed = links.filter { $0.relationship.isToMany && $0.links.contains(where: \.hasDetails) }
    guard !detailed.isEmpty else { return }
    writer.key("links")
    writer.beginObject()
    for links in detailed {
      writer.key(links.relationship.name)
      writer.beginArray()
      for link in links.links {
        writer.beginObject()
        if let position = link.inversePosition {
          writer.key("inversePosition")
          writer.integer(position)
        }
        if link.isReversed {
          writer.key("isReversed")
          writer.boolean(true)
        }
        writer.key("objectID")
        writer.string(link.uri)
        if let position = link.position {
          writer.key("position")
          writer.integer(position)
        }
        writeUnknown(links.unknownColumns, link.unknown, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    writer.endObject()
  }

  /// The object's positions in lists of other objects.
  private func writePositions(_ links: [Links], to writer: inout CanonicalJSONWriter) {
    let placed = links.compactMap { links in
      links.relationship.isToMany
        ? nil : links.links.first?.inversePosition.map { (links.relationship.name, $0) }
    }
    guard !placed.isEmpty else { return }
    writer.key("positions")
    writer.beginObject()
    for (name, position) in placed {
      writer.key(name)
      writer.integer(position)
    }
    writer.endObject()
  }

  private func writeRelationships(_ links: [Links], to writer: inout CanonicalJSONWriter) {
    writer.beginObject()
    for links in links {
      writer.key(links.relationship.name)
      if links.relationship.isToMany {
        writer.beginArray()
        for link in links.links where !link.isReversed { writer.string(link.uri) }
        writer.endArray()
      } else if let link = links.links.first {
        writer.string(link.uri)
      } else {
        writer.null()
      }
    }
    writer.endObject()
  }
}
