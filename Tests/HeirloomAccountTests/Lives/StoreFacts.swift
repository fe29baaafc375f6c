import Foundation
import TestSupport

/// The tables and columns that a store lists as waiting for clean-up.
///
/// Nothing in them is the store's: the migration that listed them took it along or told it.
private struct WaitingParts {
  let tables: Set<String>
  let columns: [String: Set<String>]

  init(_ metadata: [String: Any]) {
    let list = metadata["HeirloomDeferredMigration"] as? [String: Any] ?? [:]
    tables = Set(list["tables"] as? [String] ?? [])
    columns = (list["columns"] as? [String: [String]] ?? [:]).mapValues { Set($0) }
  }
}

/// The facts of one store with its external files.
struct StoreFacts {
  struct Place: Hashable {
    let table: String
    let row: Int
    let column: String
  }

  /// Equal rows of the app's tables count as often as they are there.
  private(set) var counts: [Fact: Int] = [:]
  private(set) var places: [Fact: Place] = [:]
  let contents: Contents
  /// The one that the store names; `nil` if it is not one of the life's.
  let model: XMLModel?
  let layout: Layout?
  let objects: Objects?
  private let folder: URL

  /// The tables whose cells are no facts.
  private static let ownTables: Set = ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"]
  /// The first letters of the names of the app's tables, and of its keys in the metadata.
  static let appPrefix = "app_"

  init(of url: URL, models: [String: XMLModel]) throws {
    contents = try Self.contents(of: url)
    let name = url.deletingPathExtension().lastPathComponent
    folder = url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
    let metadata = Self.metadata(in: contents)
    model = (metadata["NSStoreModelVersionIdentifiers"] as? [String])?.compactMap { models[$0] }.first
    layout = model.map { [contents] in Layout($0, stored: contents.numbers) }
    objects = layout.map { [contents] in Objects(in: contents, $0) }
    for (key, value) in metadata where key.hasPrefix(Self.appPrefix) {
      if let value = value as? String { counts[.metadata(key, value)] = 1 }
    }
    let waiting = WaitingParts(metadata)
    for (name, table) in contents.tables.sorted(by: { $0.key < $1.key }) where !Self.ownTables.contains(name) {
      if name.hasPrefix(Self.appPrefix) {
        for row in table.rows { counts[.row(name, row), default: 0] += 1 }
      } else if !waiting.tables.contains(name) {
        addValues(of: table, named: name, without: waiting.columns[name] ?? [])
      }
    }
    addLinks()
  }

  /// Leaves nothing beside the file: SQLite makes side files for a store in WAL mode.
  private static func contents(of url: URL) throws -> Contents {
    let file = try FileHandle(forReadingFrom: url)
    defer { try? file.close() }
    guard try file.read(upToCount: 20)?.last == 2 else { return try Contents(of: url.path) }
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let copy = directory.file("Copy.sqlite").path
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
      try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy + suffix)
    }
    return try Contents(of: copy)
  }

  static func metadata(in contents: Contents) -> [String: Any] {
    guard let table = contents.tables["Z_METADATA"], let place = table.place(of: "Z_PLIST"),
      case .blob(let bytes)? = table.rows.first?[place]
    else { return [:] }
    let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    return list as? [String: Any] ?? [:]
  }

  private mutating func addValues(of table: Contents.Table, named name: String, without waiting: Set<String>) {
    // Orders are numbers that may be equal to values.
    let columns = table.columns.indices.filter {
      !table.columns[$0].hasPrefix("Z_") && !waiting.contains(table.columns[$0])
    }
    let known = layout.map { $0.tables.values.contains(name) ? $0.knownColumns(of: name) : [] } ?? []
    for (number, row) in table.rows.enumerated() {
      for column in columns {
        guard let value = LifeValues.own(external(row[column])) else { continue }
        counts[.value(value)] = 1
        // The model's own place tells whose value it is.
        guard places[.value(value)] == nil || known.contains(table.columns[column]) else { continue }
        places[.value(value)] = Place(table: name, row: number, column: table.columns[column])
      }
    }
  }

  /// Returns the bytes of the file that a cell names, or else the cell.
  private func external(_ cell: Cell) -> Cell {
    guard case .blob(let bytes) = cell, bytes.first == 2, bytes.last == 0, bytes.count == 38 else { return cell }
    let file = folder.appendingPathComponent(String(decoding: bytes[1...36], as: UTF8.self))
    return .blob((try? Array(Data(contentsOf: file))) ?? [])
  }

  /// True if every file that a cell names is there and has bytes.
  var hasExternalFiles: Bool {
    externalFiles.allSatisfy { file in
      let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
      return (size?.int64Value ?? 0) > 0
    }
  }

  var externalFiles: [URL] {
    contents.tables.sorted { $0.key < $1.key }.flatMap(\.value.rows).joined().compactMap { cell in
      guard case .blob(let bytes) = cell, bytes.first == 2, bytes.last == 0, bytes.count == 38 else { return nil }
      return folder.appendingPathComponent(String(decoding: bytes[1...36], as: UTF8.self))
    }
  }

  // MARK: Links

  func serial(_ object: ObjectKey) -> Cell? {
    contents.values(of: "Z" + SeededCase.mark.uppercased(), in: object.table)[object.key]
  }

  private mutating func addLinks() {
    guard let model, let layout, let objects else { return }
    let links = Links(in: contents, layout, objects)
    for entity in model.entities {
      for serial in (objects.byEntity[entity.name] ?? []).compactMap(serial) {
        counts[.object(entity.identifier, serial)] = 1
      }
      for relationship in entity.relationships where !relationship.isTransient {
        guard let letter = relationship.identifier.last else { continue }
        let isForth = relationship.identifier.hasPrefix("to")
        let name = Layout.Name(entity: entity.name, property: relationship.name)
        for link in links.all(of: name) {
          guard let owner = serial(link.owner), let target = serial(link.target) else { continue }
          counts[isForth ? .link(letter, owner: owner, target: target) : .link(letter, owner: target, target: owner)] =
            1
        }
        addOrder(links.places(of: name), of: relationship.identifier)
      }
    }
  }

  private mutating func addOrder(_ places: [Link: Int64], of relationship: String) {
    for (owner, targets) in Dictionary(grouping: places, by: \.key.owner) {
      guard let owner = serial(owner) else { continue }
      for first in targets {
        for second in targets where first.value < second.value {
          guard let one = serial(first.key.target), let other = serial(second.key.target) else { continue }
          counts[.order(relationship, owner: owner, first: one, second: other)] = 1
        }
      }
    }
  }
}
