import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import HeirloomVault

/// An archive for a support mail: a report, and the store only on request.
struct DiagnosticsArchive {
  private let location: StoreLocation
  private let folders: [String]
  private let collector: DiagnosticsCollector

  init(_ assistant: MigrationAssistant, location: StoreLocation) {
    self.location = location
    collector = DiagnosticsCollector(assistant, location: location)
    // These paths may be private, so they are removed from the report, the longest first: a folder
    // may contain another.
    folders = [
      location.directory, assistant.storeURL.deletingLastPathComponent().path,
      assistant.modelController.snapshotURL.deletingLastPathComponent().path, NSHomeDirectory(),
    ].filter { $0.count > 1 }.ordered { $0.count > $1.count }
  }

  /// `includesStore` adds the store with its side files and external data, and the set-aside stores
  /// that have not returned.
  func write(to path: String, includesStore: Bool) throws {
    let file = try DraftFile(for: path)
    var archive = TapeArchiveWriter(time: Int64(Date().timeIntervalSince1970)) { try file.write($0) }
    try archive.add("diagnostics/README.txt", Array(readMe(includesStore: includesStore).utf8))
    let packed = includesStore ? collector.waiting : []
    for set in packed {
      for index in collector.report.aside.indices where collector.report.aside[index].id == set.name {
        collector.report.aside[index].folder = Self.folder(of: set)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let report = String(decoding: try encoder.encode(collector.report), as: UTF8.self)
    try archive.add("diagnostics/report.json", Array(withoutFolders(report).utf8))
    if !collector.schema.isEmpty {
      try archive.add("diagnostics/schema.sql", Array((collector.schema.joined(separator: "\n") + "\n").utf8))
    }
    if let model = collector.model, let bytes = try? ModelSnapshot(model: model).bytes(.readable) {
      try archive.add("diagnostics/model.json", bytes)
    }
    if includesStore { try addStore(at: location, as: "store", to: &archive) }
    // The store in its place may be a new, empty one: the data that the user misses was set aside.
    for set in packed {
      let place = try StoreLocation(
        resolving: set.storePath(named: location.name), files: POSIXFileOperations())
      try addStore(at: place, as: Self.folder(of: set), to: &archive)
    }
    try archive.finish()
    try file.complete()
  }

  private static func folder(of set: SetAsideFiles) -> String { "set-aside/\(set.name)" }

  private func readMe(includesStore: Bool) -> String {
    let sets = collector.waiting.map { set in
      "\nThe folder \(Self.folder(of: set)) holds a store that was set aside, with all of its data."
    }
    let promise =
      includesStore
      ? "The folder store holds the present store WITH ALL OF ITS DATA, if there is one, as requested."
        + sets.joined()
      : "This archive contains no row values, and no path outside the store's folder."
    return """
      Diagnostics of the store \(location.name), made by Heirloom \(HeirloomRelease.version).

      report.json  the store's state, the findings, the files kept beside it, and the events of this run
      schema.sql   the statements that made its tables
      model.json   the model that made it

      \(promise)

      """
  }

  /// Seeks the folders in their JSON spelling.
  private func withoutFolders(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    return folders.reduce(text) { text, folder in
      let quoted = (try? encoder.encode(folder)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return text.replacingOccurrences(of: quoted.dropFirst().dropLast(), with: "…")
    }
  }

  // MARK: The store itself

  private func addStore(
    at location: StoreLocation, as folder: String, to archive: inout TapeArchiveWriter
  ) throws {
    let files = POSIXFileOperations()
    var problems: [String] = []
    func add(_ path: String, as name: String, to archive: inout TapeArchiveWriter) throws {
      guard let status = try? files.status(of: path), status.kind == .regular else { return }
      try archive.begin(name, byteCount: status.size)
      do {
        try files.readPieces(of: path) { try archive.append($0) }
      } catch {
        // An incomplete file is better than none; if the target is full, the end fails again.
        problems.append("\(name): \(error)")
      }
      try archive.end()
    }
    if let status = try? files.status(of: location.path), status.kind == .regular {
      do {
        try addMainFile(of: location, as: folder, byteCount: status.size, to: &archive)
      } catch let error as SQLiteError {
        problems.append("\(location.name): \(error.message)")
        try archive.end()
      }
    }
    // After the main file: pages that a checkpoint writes to it meanwhile are in the -wal as well.
    for suffix in StoreLocation.dataSuffixes {
      try add(location.path + suffix, as: "\(folder)/\(location.name)\(suffix)", to: &archive)
    }
    if let names = FileManager.default.enumerator(atPath: location.support) {
      for case let name as String in names {
        try add(
          PathText.join(location.support, name), as: "\(folder)/\(location.supportName)/\(name)", to: &archive)
      }
    }
    guard !problems.isEmpty else { return }
    let text = withoutFolders(problems.joined(separator: "\n") + "\n")
    try archive.add("\(folder)/problems.txt", Array(text.utf8))
  }

  /// Reads through SQLite's own handle: another one would drop the locks of this process.
  private func addMainFile(
    of location: StoreLocation, as folder: String, byteCount: Int64, to archive: inout TapeArchiveWriter
  ) throws {
    try archive.begin("\(folder)/\(location.name)", byteCount: byteCount)
    // A transaction prevents a checkpoint from emptying the -wal. A store that SQLite can't read,
    // or that is held, is read without one.
    let (connection, isReading) = try Self.connection(to: location)
    var offset: Int64 = 0
    while offset < byteCount {
      let count = min(byteCount - offset, 1 << 20)
      guard let bytes = connection.readFile(at: offset, byteCount: Int32(count)) else {
        throw SQLiteError(extendedCode: 10, message: "it can't be read at byte \(offset)")
      }
      try archive.append(bytes)
      offset += count
    }
    try archive.end()
    if isReading { try? connection.execute("ROLLBACK") }
  }

  private static func connection(to location: StoreLocation) throws(SQLiteError) -> (Connection, isReading: Bool) {
    var options = Connection.Options.inspecting
    options.busyTimeout = 500
    // Without side files no process has the store open, and reading must not create any.
    if location.sideFiles.contains(where: { FileManager.default.fileExists(atPath: $0) }),
      let connection = try? Connection(path: location.path, mode: .readOnly, options: options),
      (try? connection.execute("BEGIN")) != nil,
      (try? connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")) != nil
    {
      return (connection, true)
    }
    return (try Connection(path: location.path, mode: .immutable, options: options), false)
  }
}
