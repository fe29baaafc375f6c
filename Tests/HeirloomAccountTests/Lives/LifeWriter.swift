import Foundation
import TestSupport

/// An app and other programs that write into a store by plain SQL.
struct LifeWriter {
  enum Kind: String, CaseIterable {
    case insertObject, updateValue, clearValue, deleteObject, leadLink, dropLink, replaceFile, changeEntity, copyValue
    case addColumn, fillColumn, insertRow, changeRow, deleteRow, setMetadata

    /// Those that no model knows.
    static let unknown: [Kind] = [
      .addColumn, .fillColumn, .fillColumn, .insertRow, .insertRow, .changeRow, .setMetadata,
    ]

    /// Mostly a few of one sort, which nothing else in the write hides.
    static func draw(using random: inout SplitMix64) -> [Kind] {
      let known = Array(allCases.prefix(9))
      let sort = random.below(5) == 0 ? allCases : random.below(4) == 0 ? known : unknown
      return (0..<1 + random.below(sort.count == allCases.count ? 5 : 2)).map { _ in sort[random.below(sort.count)] }
    }
  }

  private let url: URL
  private let facts: StoreFacts
  private let layout: Layout
  private var random: SplitMix64
  private(set) var values: LifeValues
  private var statements: [String] = []
  /// The files of replaced values, which the app removes after its transaction.
  private var removedFiles: [URL] = []

  /// The app's tables: names by case, names by trailing spaces, rows without any key or type.
  private static let tables = [
    ("app_tags", "name TEXT COLLATE NOCASE, note"), ("app_lines", "text TEXT COLLATE RTRIM"), ("app_plain", "a, b"),
    ("app_keys", "key TEXT PRIMARY KEY, value BLOB"),
  ]
  private static let columns = [
    "ZLEFTOVER", "odd name", "value", "source", "key", "ZWHEN", "owner", "target", "position", "inverse_position",
  ]
  private static let types = ["VARCHAR", "", "JSON", "FLOATING POINT", "BLOB", "TEXT COLLATE NOCASE", "INT8"]

  init?(_ url: URL, _ facts: StoreFacts, values: LifeValues, random: SplitMix64) {
    guard let layout = facts.layout else { return nil }
    (self.url, self.facts, self.layout, self.values, self.random) = (url, facts, layout, values, random)
  }

  /// As one transaction.
  mutating func write(_ kinds: [Kind]) throws {
    for kind in kinds { make(kind) }
    try commit()
  }

  /// Puts each value into the store once, and fills the app's own tables.
  mutating func replaceAllValues() throws {
    for (table, columns) in Self.tables where random.below(2) == 0 {
      statements.append("CREATE TABLE IF NOT EXISTS \(table) (\(columns))")
      let name = Cell.text("row \(values.next())")
      for _ in 0..<random.below(5) { insertRow(table, like: random.below(3) == 0 ? nil : [name]) }
    }
    setMetadata()
    for (table, content) in facts.contents.tables.sorted(by: { $0.key < $1.key }) {
      if Set(layout.tables.values).contains(table) {
        let known = layout.knownColumns(of: table)
        for object in objects(in: table) {
          for attribute in attributes(of: object) where cell(object, attribute.column) != .null {
            replace(object, attribute)
          }
          for column in content.columns where !known.contains(column) && cell(object, column) != .null {
            set(object, column, values.nextOfAnyType(using: &random))
          }
        }
      } else if table.hasPrefix("Z_"), content.place(of: "Z_PK") == nil {
        for column in content.columns where !column.hasPrefix("Z_") && column != "REFLEXIVE" {
          fillLinks(table, column, always: true)
        }
      }
    }
    try commit()
  }

  private mutating func commit() throws {
    let database = try Database(url.path, isWritable: true)
    try database.execute(statements)
    statements = []
    for file in removedFiles { try? FileManager.default.removeItem(at: file) }
    removedFiles = []
  }

  // MARK: Parts

  private struct Column {
    let attribute: XMLModel.Attribute
    let column: String
  }

  private var allObjects: [ObjectKey] { Set(layout.tables.values).sorted().flatMap(objects) }

  private func objects(in table: String) -> [ObjectKey] {
    (facts.objects?.entities[table] ?? [:]).keys.sorted().map { ObjectKey(table: table, key: $0) }
  }

  private func attributes(of object: ObjectKey) -> [Column] {
    attributes(ofEntity: facts.objects?.entity(object) ?? "")
  }

  private func attributes(ofEntity entity: String) -> [Column] {
    (layout.attributes[entity] ?? []).compactMap { declared in
      layout.columns[Layout.Name(entity: declared.entity, property: declared.property.name)].map {
        Column(attribute: declared.property, column: $0)
      }
    }
  }

  private func cell(_ object: ObjectKey, _ column: String) -> Cell {
    facts.contents.values(of: column, in: object.table)[object.key] ?? .null
  }

  private mutating func pick<Value>(_ values: some Collection<Value>) -> Value? {
    values.randomElement(using: &random)
  }

  private mutating func set(_ object: ObjectKey, _ column: String, _ cell: Cell) {
    statements.append(
      "UPDATE \(quoted(object.table)) SET \(quoted(column)) = \(cell.literal) WHERE Z_PK = \(object.key)")
  }

  /// As Core Data stores it; half of those that may be are in files.
  private mutating func value(of attribute: XMLModel.Attribute) -> Cell {
    let value = values.next(attribute.type, using: &random)
    guard attribute.isExternal, case .blob(let bytes) = value else { return value }
    guard random.below(2) == 0 else { return .blob([1] + bytes) }
    let name = String(
      format: "%08X-0000-4000-8000-%012X", Int(truncatingIfNeeded: random.next() >> 32), Int(random.next() >> 20))
    let folder = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? Data(bytes).write(to: folder.appendingPathComponent(name))
    return .blob([2] + Array(name.utf8) + [0])
  }

  private mutating func replace(_ object: ObjectKey, _ attribute: Column) {
    set(object, attribute.column, value(of: attribute.attribute))
  }

  // MARK: Writes

  private mutating func make(_ kind: Kind) {
    switch kind {
    case .insertObject: insertObject()
    case .updateValue, .clearValue: updateValue(clears: kind == .clearValue)
    case .deleteObject:
      guard let object = pick(allObjects) else { return }
      statements.append("DELETE FROM \(quoted(object.table)) WHERE Z_PK = \(object.key)")
    case .leadLink, .dropLink: leadLink(drops: kind == .dropLink)
    case .changeEntity: changeEntity()
    case .copyValue: copyValue()
    case .addColumn: addColumn()
    case .fillColumn: fillColumn()
    case .insertRow, .changeRow, .deleteRow: writeRow(kind)
    case .setMetadata: setMetadata()
    case .replaceFile:
      let found = allObjects.flatMap { object in attributes(of: object).map { (object, $0) } }
        .filter { $0.1.attribute.isExternal }
      guard let (object, attribute) = pick(found) else { return }
      replace(object, attribute)
    }
  }

  private mutating func insertObject() {
    guard let entity = pick(layout.model.entities.filter { !$0.isAbstract }), let table = layout.tables[entity.name],
      let number = layout.numbers[entity.name], let root = layout.numbers[layout.model.root(of: entity.name)]
    else { return }
    let highest = facts.contents.tables["Z_PRIMARYKEY"].flatMap { keys in
      keys.rows.first { $0[keys.place(of: "Z_ENT") ?? 0] == .integer(root) }?[keys.place(of: "Z_MAX") ?? 0].integer
    }
    // One object of a table in a transaction is enough.
    let key = (highest ?? 0) + 1
    guard !statements.contains(where: { $0.hasPrefix("INSERT OR FAIL INTO \(quoted(table))") }) else { return }
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var cells: [Cell] = [.integer(key), .integer(number), .integer(1)]
    for attribute in attributes(ofEntity: entity.name) {
      let isNeeded = !attribute.attribute.isOptional || attribute.attribute.name == SeededCase.mark
      guard isNeeded || random.below(4) != 0 else { continue }
      columns.append(attribute.column)
      cells.append(value(of: attribute.attribute))
    }
    statements.append(
      "INSERT OR FAIL INTO \(quoted(table)) (\(columns.map(quoted).joined(separator: ", ")))"
        + " VALUES (\(cells.map(\.literal).joined(separator: ", ")))")
    statements.append("UPDATE Z_PRIMARYKEY SET Z_MAX = \(key) WHERE Z_ENT = \(root)")
  }

  private mutating func updateValue(clears: Bool) {
    guard let object = pick(allObjects),
      let attribute = pick(
        attributes(of: object).filter {
          $0.attribute.name != SeededCase.mark && (!clears || $0.attribute.isOptional)
        })
    else { return }
    if clears { set(object, attribute.column, .null) } else { replace(object, attribute) }
  }

  private mutating func leadLink(drops: Bool) {
    let names = layout.columns.keys.filter { layout.relationship($0) != nil }
      .sorted { ($0.entity, $0.property) < ($1.entity, $1.property) }
    guard let name = pick(names), let relationship = layout.relationship(name), let column = layout.columns[name],
      let owner = pick(
        allObjects.filter { layout.subtrees[name.entity, default: []].contains(facts.objects?.entity($0) ?? "") }),
      let target = pick(
        allObjects.filter {
          layout.subtrees[relationship.destination, default: []].contains(facts.objects?.entity($0) ?? "")
        }),
      let number = facts.objects?.entity(target).flatMap({ layout.numbers[$0] })
    else { return }
    set(owner, column, drops ? .null : .integer(target.key))
    if let entity = layout.numberColumn(of: name) { set(owner, entity, drops ? .null : .integer(number)) }
  }

  private mutating func copyValue() {
    guard let object = pick(allObjects),
      let attribute = pick(attributes(of: object).filter { $0.attribute.name != SeededCase.mark }),
      !layout.model.entities.contains(where: { $0.uniqueAttributes.contains(attribute.attribute.name) }),
      let other = pick(objects(in: object.table).filter { cell($0, attribute.column) != .null })
    else { return }
    // (A file has one owner.)
    if case .blob(let bytes) = cell(other, attribute.column), bytes.first == 2 { return }
    set(object, attribute.column, cell(other, attribute.column))
  }

  /// Keeps the object's key, values and links.
  private mutating func changeEntity() {
    guard let object = pick(allObjects),
      let entity = pick(
        layout.model.entities.filter {
          !$0.isAbstract && layout.tables[$0.name] == object.table && $0.name != facts.objects?.entity(object)
        }),
      let number = layout.numbers[entity.name]
    else { return }
    set(object, "Z_ENT", .integer(number))
  }

  // MARK: What no model knows

  private var linkTables: [String] {
    facts.contents.tables.filter { name, table in
      name.hasPrefix("Z_") && table.columns.count { $0.hasPrefix("Z_") } >= 2 && table.place(of: "Z_ENT") == nil
        && table.place(of: "Z_PLIST") == nil && table.place(of: "Z_CONTENT") == nil
    }.map(\.key).sorted()
  }

  private mutating func addColumn() {
    guard let table = pick(random.below(3) == 0 ? linkTables : Set(layout.tables.values).sorted()),
      let column = pick(Self.columns), let type = pick(Self.types),
      !(facts.contents.tables[table]?.columns.contains { $0.lowercased() == column.lowercased() } ?? true),
      !statements.contains(where: { $0.hasPrefix("ALTER TABLE") })
    else { return }
    statements.append("ALTER TABLE \(quoted(table)) ADD COLUMN \(quoted(column)) \(type)")
    if table.hasPrefix("Z_") {
      fillLinks(table, column, always: true)
    } else {
      for object in objects(in: table) where random.below(3) != 0 {
        set(object, column, values.nextOfAnyType(using: &random))
      }
    }
  }

  private mutating func fillColumn() {
    let unknown = Set(layout.tables.values).sorted().flatMap { table in
      (facts.contents.tables[table]?.columns ?? []).filter { !layout.knownColumns(of: table).contains($0) }
        .map { (table, $0) }
    }
    let links = linkTables.flatMap { table in
      (facts.contents.tables[table]?.columns ?? []).filter { Self.columns.contains($0) }.map { (table, $0) }
    }
    guard let (table, column) = pick(unknown + links) else { return }
    if table.hasPrefix("Z_") {
      fillLinks(table, column, always: false)
    } else if let object = pick(objects(in: table)) {
      set(object, column, values.nextOfAnyType(using: &random))
    }
  }

  /// Rows of links are found by all their keys.
  private mutating func fillLinks(_ table: String, _ column: String, always: Bool) {
    guard let content = facts.contents.tables[table] else { return }
    let keys = content.columns.indices.filter { content.columns[$0].hasPrefix("Z_") }
    for row in content.rows where always || random.below(3) == 0 {
      let conditions = keys.map { "\(quoted(content.columns[$0])) IS \(row[$0].literal)" }
      statements.append(
        "UPDATE \(quoted(table)) SET \(quoted(column)) = \(values.nextOfAnyType(using: &random).literal)"
          + " WHERE \(conditions.joined(separator: " AND "))")
    }
  }

  private mutating func writeRow(_ kind: Kind) {
    guard let (table, columns) = pick(Self.tables) else { return }
    let content = facts.contents.tables[table]
    if content == nil { statements.append("CREATE TABLE IF NOT EXISTS \(table) (\(columns))") }
    let row = content.flatMap { content in pick(content.rows) }
    func condition(_ row: [Cell]) -> String {
      zip(content?.columns ?? [], row).map { "\(quoted($0)) COLLATE BINARY IS \($1.literal)" }
        .joined(separator: " AND ")
    }
    guard let row, kind != .insertRow else { return insertRow(table, like: row) }
    let place = "rowid = (SELECT rowid FROM \(table) WHERE \(condition(row)) LIMIT 1)"
    if kind == .deleteRow {
      statements.append("DELETE FROM \(table) WHERE \(place)")
    } else {
      let column = content?.columns.last ?? "rowid"
      statements.append("UPDATE \(table) SET \(column) = 'row \(values.next())' WHERE \(place)")
    }
  }

  /// The row is equal to another one, or nearly.
  private mutating func insertRow(_ table: String, like row: [Cell]?) {
    let text = row.flatMap { $0.first?.string } ?? "row \(values.next())"
    var cells: [Cell] = [[.text(text), .text(text.uppercased()), .text(text + " "), .text(text)][random.below(4)]]
    if table != "app_lines" { cells.append([.null, .integer(5), .real(5), .text("5")][random.below(4)]) }
    statements.append(
      "INSERT OR IGNORE INTO \(table) VALUES (\(cells.map(\.literal).joined(separator: ", ")))")
  }

  private mutating func setMetadata() {
    var metadata = StoreFacts.metadata(in: facts.contents)
    metadata[StoreFacts.appPrefix + "key\(random.below(3))"] = "entry \(values.next())"
    guard
      let data = try? PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    else { return }
    statements.append("UPDATE Z_METADATA SET Z_PLIST = \(Cell.blob(Array(data)).literal)")
  }
}
