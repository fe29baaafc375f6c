import Foundation
import Heirloom

/// Writes versions as snapshots into a history and fixes them in its lock.
struct SnapshotHistory {
  private let folder: String
  private var lock: VersionLock
  private let lockPath: String
  private let files = POSIXFileOperations()

  /// Opens a history, which may not exist yet.
  ///
  /// - Parameter folder: The folder.
  /// - Throws: `ModelReadingError` for a damaged lock.
  init(at folder: String) throws {
    self.folder = folder
    lockPath = SnapshotFolder.lockPath(in: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if case .missing = PathKind(lockPath) { lock = VersionLock() } else { lock = try VersionLock(path: lockPath) }
  }

  /// Adds the current version of a model; to a history without a lock, those before it as well.
  ///
  /// - Parameters:
  ///   - source: The model, or a store.
  ///   - date: The time that snapshots note.
  ///   - console: Told of what is not understood.
  /// - Returns: What was written.
  /// - Throws: A failure for a version that was shipped and edited since; nothing is written then.
  mutating func add(modelAt source: String, date: Date, console: Console) throws -> CommandReport {
    let current = try NamedModel(at: source)
    for warning in current.warnings { console.log("note: \(warning)") }
    let sisters = try sisters(of: current, at: source)
    var added: [NamedModel] = []
    for version in sisters {
      let entry = VersionLock.Entry(name: version.name, model: version.model)
      guard let index = lock.versions.firstIndex(where: { $0.name == version.name }) else { continue }
      // A lock that was written without the entities' hashes gets them.
      if lock.versions[index].checksum == entry.checksum { lock.versions[index].entities = entry.entities }
    }
    let isFirst = lock.versions.isEmpty
    for version in isFirst ? sisters : [current] {
      let entry = VersionLock.Entry(name: version.name, model: version.model)
      if let known = lock.versions.first(where: { $0.name == version.name }) {
        guard known.checksum == entry.checksum else { throw edited(version.name) }
      } else {
        lock.versions.append(entry)
      }
      added.append(version)
    }
    var lines: [String] = []
    var path = ""
    for version in added {
      path = folder + "/" + SnapshotCommand.fileName(version.name)
      let snapshot = ModelSnapshot(model: version.model, archivedAt: date)
      let isNew = try SnapshotCommand.write(snapshot, to: path)
      lines.append("\(path) \(isNew ? "was written" : "holds the model already and was left as it is").")
    }
    let file = SnapshotFile(path: lockPath, files: files)
    if try file.read() != lock.encoded() { try file.write(lock.encoded()) }
    lines.append("\(lockPath) fixes \(listText(lock.versions.map { "\"\($0.name)\"" })), in this order.")
    return CommandReport(
      lines: lines,
      members: [
        ("path", .text(path)), ("versionChecksum", .text(current.model.versionChecksum())), ("lock", .text(lockPath)),
        ("versions", .texts(lock.versions.map(\.name))),
      ])
  }

  /// The versions up to the current one, in their order.
  private func sisters(of current: NamedModel, at source: String) throws -> [NamedModel] {
    if case .database = PathKind(source) { return [current] }
    let list = try ModelVersionList(source)
    guard let end = list.versions.firstIndex(where: { $0.name == current.name }) else { return [current] }
    return try list.versions[...end].map { version in
      version.name == current.name
        ? current : NamedModel(name: version.name, model: try version.file.read().model)
    }
  }

  private func edited(_ name: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "editedVersion",
      message: "The version \"\(name)\" was shipped, as \(lockPath) says, and was edited since; nothing was written.",
      suggestion:
        "Take the change back, and make it in a new version. heirloom check \(shellWord(folder)) names the change.")
  }
}
