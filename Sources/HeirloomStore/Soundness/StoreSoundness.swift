import Foundation
package import HeirloomFormats
package import HeirloomModel

/// Tested before other copies of a store's content are removed; nothing is written.
///
/// A sound store has readable metadata, passes SQLite's quick check, has every table and column of
/// its model, and has each file of external data that its rows refer to, with content.
package struct StoreSoundness: Equatable, Sendable {
  /// In words, without a full stop; `nil` for a sound store.
  package let fault: String?
  package let checksum: ContentChecksum
  package let file: FileStamp

  /// Throws if the store can't be read now, or changed meanwhile, which is no sign of a fault.
  ///
  /// `model` is used only if it is the store's.
  package init(ofStoreAt path: String, model: ManagedObjectModel?) throws(StoreError) {
    let first = try StoreSoundness(testing: path, model: model)
    // A disk may fail once, and the result counts for as long as the file doesn't change.
    self = first.fault == nil ? first : try StoreSoundness(testing: path, model: model)
  }

  private init(testing path: String, model: ManagedObjectModel?) throws(StoreError) {
    guard let before = FileStamp(path) else { throw StoreError(path: path, problem: .missing) }
    var checksum = ContentChecksum()
    var fault: String?
    do throws(StoreError) {
      (fault, checksum) = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
        (try Self.fault(in: connection, path: path, model: model), try Self.checksum(connection, before, path: path))
      }
    } catch {
      guard error.isAboutContent else { throw error }
      fault = error.description
    }
    guard FileStamp(path) == before else { throw StoreError(path: path, problem: .inUse) }
    (self.fault, self.checksum, file) = (fault, checksum, before)
  }

  private static func fault(
    in connection: Connection, path: String, model: ManagedObjectModel?
  ) throws(StoreError) -> String? {
    let metadata = try StoreMetadata(connection: connection, path: path)
    do throws(SQLiteError) {
      let actual = try ActualSchema(of: connection)
      if let line = try connection.structureFaults(of: actual, by: "quick_check", limit: 1).first { return line }
      let cached = (try? StoreModelCache.model(connection: connection, path: path))?.model
      for case let model? in [model, cached] {
        guard let configuration = metadata.configuration(of: model, heldBy: actual) else { continue }
        let schema = PhysicalSchema(model: model, configuration: configuration, actual: actual)
        if let drift = actual.tableDrift(from: schema).first(where: \.isFatal) { return drift.description }
        return try faultOfExternalFiles(schema, actual, connection, path: path)
      }
      return nil
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func faultOfExternalFiles(
    _ schema: PhysicalSchema, _ actual: ActualSchema, _ connection: Connection, path: String
  ) throws(SQLiteError) -> String? {
    let folder = ExternalStorage.folder(forStoreAt: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    for (_, column) in schema.externalAttributes(in: actual) {
      for name in try ExternalStorage.fileNames(in: column, connection)
      where !ExternalStorage.isFilled("\(folder)/\(name)") {
        return "the file \(name) with a value of \(column.table).\(column.name) is missing or empty"
      }
    }
    return nil
  }

  /// Through SQLite's own handle: closing another one would drop this process's locks.
  private static func checksum(
    _ connection: Connection, _ file: FileStamp, path: String
  ) throws(StoreError) -> ContentChecksum {
    var (checksum, place) = (ContentChecksum(), Int64(0))
    while place < file.size {
      let count = Int32(clamping: min(file.size - place, 1 << 20))
      guard let bytes = connection.readFile(at: place, byteCount: count) else {
        throw StoreError(path: path, problem: .unreadable(reason: "its bytes can't be read from \(place) on"))
      }
      bytes.withUnsafeBytes { checksum.update($0) }
      place += Int64(count)
    }
    return checksum
  }
}
