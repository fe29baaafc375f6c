import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import HeirloomVault

final class ComparedStore {
  let connection: Connection
  let encoding: String
  let metadata: StoreMetadata
  let schema: PhysicalSchema
  let actual: ActualSchema
  let files: ComparedFiles

  /// `nil` if neither `models` nor the store's own copy has its model.
  init?(_ connection: Connection, path: String, models: [ManagedObjectModel], contents: FileContentClasses) throws {
    self.connection = connection
    encoding = try connection.firstValue("PRAGMA encoding")?.text ?? ""
    metadata = try StoreMetadata(connection: connection, path: path)
    actual = try ActualSchema(of: connection)
    let cached = (try? StoreModelCache.model(connection: connection, path: path))?.model
    var found: PhysicalSchema?
    for model in models + [cached].compactMap(\.self) where found == nil {
      guard let configuration = metadata.configuration(of: model, heldBy: actual) else { continue }
      found = PhysicalSchema(model: model, configuration: configuration, actual: actual)
    }
    guard let found else { return nil }
    schema = found
    files = ComparedFiles(ofStoreAt: path, contents: contents)
  }

  var entityNames: [Int64: String] {
    Dictionary(schema.entities.map { (Int64($0.number), $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// The tables with rows of no entity, apart from the framework's own records.
  ///
  /// These are left out, since they hold no values of the app:
  /// - Core Data's three tables: entity numbers and highest keys, metadata (compared key by key), the model's copy;
  /// - SQLite's own (`sqlite_sequence`, `sqlite_stat1`): the next key, and statistics;
  /// - virtual tables: their rows are in their shadow tables, which are compared;
  /// - the shadow tables of a model's R-trees, which are derived from the rows.
  var otherTables: [ActualTable] {
    let indexes = Set(schema.indexes.map(\.name))
    let owners = actual.ownership(under: schema)
    return owners.filter { $0.object.kind == .table }.compactMap { object, ownership in
      switch ownership {
      case .model, .bookkeeping, .system: return nil
      case .shadow(of: let owner) where indexes.contains(owner): return nil
      default: break
      }
      guard let table = actual.table(named: object.name), !table.isVirtual else { return nil }
      return table
    }
  }

  /// Leaves out hashes, identifiers and checksums of the model, Core Data's version and Heirloom's
  /// own keys: they depend on the model and on the last writer of the file.
  var metadataValues: [String: [UInt8]] {
    let own: Set<String> = [
      PhysicalName.storeTypeKey, PhysicalName.versionHashesVersionKey, PhysicalName.autoVacuumKey,
      PhysicalName.deferredMigrationKey,
    ]
    var values: [String: [UInt8]] = [PhysicalName.uuid: Array(metadata.identifier.utf8)]
    for (key, value) in metadata.otherValues where !own.contains(key) {
      // A value that can't be encoded equals no other.
      values[key] = (try? BinaryPropertyListWriter.bytes(of: value)) ?? Array(UUID().uuidString.utf8)
    }
    for pragma in ["PRAGMA user_version", "PRAGMA application_id"] {
      // 0 is the default. A value that can't be read equals no other.
      let number = try? connection.firstInteger(pragma)
      if number != 0 { values[pragma] = Array((number.map(String.init) ?? UUID().uuidString).utf8) }
    }
    return values
  }
}

/// The external files of a store: those that rows refer to, compared by content, and the others, by name and content.
final class ComparedFiles {
  private let folder: String
  private let contents: FileContentClasses
  /// Rows that refer to these are compared by the files' content.
  private var named: Set<String> = []

  init(ofStoreAt path: String, contents: FileContentClasses) {
    folder = ExternalStorage.folder(forStoreAt: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    self.contents = contents
  }

  func content(of name: String) -> Int64? {
    named.insert(name)
    return contents.number(of: "\(folder)/\(name)")
  }

  /// By the paths relative to the store's support folder.
  private var all: [String: String] {
    let support = URL(fileURLWithPath: folder).deletingLastPathComponent().path
    let data = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    var paths: [String: String] = [:]
    for (root, place) in [(support, ""), (data, "\(SupportFolder.dataName)/")] {
      guard let names = FileManager.default.enumerator(atPath: root) else { continue }
      for case let name as String in names where FileStamp("\(root)/\(name)") != nil {
        paths[place + name] = "\(root)/\(name)"
      }
    }
    return paths
  }

  /// Call it after the rows of both stores were read.
  func missing(in other: ComparedFiles) -> Int64 {
    let others = other.all.compactMapValues(contents.number(of:))
    let held = Set(others.values)
    let named = Set(named.map { "\(SupportFolder.dataName)/\($0)" })
    return Int64(
      all.count { place, path in
        guard let number = contents.number(of: path) else { return true }
        return named.contains(place) ? !held.contains(number) : others[place] != number
      })
  }
}

/// Numbers for the contents of files: two files have the same number only if they have the same bytes.
final class FileContentClasses {
  private var numbers: [FileStamp: Int64] = [:]
  private var known: [Int64: [(path: String, number: Int64)]] = [:]

  func number(of path: String) -> Int64? {
    // A file with several hard links has the same stamp under all names.
    guard let file = FileStamp(path) else { return nil }
    if let number = numbers[file] { return number }
    var found: Int64?
    for candidate in known[file.size] ?? [] where found == nil {
      guard let isSame = try? FileDescriptor.haveSameContent(path, candidate.path) else { return nil }
      if isSame { found = candidate.number }
    }
    let number = found ?? Int64(numbers.count)
    numbers[file] = number
    if found == nil { known[file.size, default: []].append((path, number)) }
    return number
  }
}
