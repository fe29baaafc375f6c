import Foundation
import HeirloomMigration
import Synchronization

/// A change of the file system, by paths relative to the store's folder.
enum RecordedChange: Sendable {
  case makeDirectory(String)
  case removeDirectory(String)
  case create(String, bytes: [UInt8], isSynchronized: Bool)
  case synchronizeFile(String, bytes: [UInt8])
  case synchronizeDirectory(String)
  case link(String, String)
  case rename(String, String)
  case unlink(String)

  var isSynchronization: Bool {
    switch self {
    case .synchronizeFile, .synchronizeDirectory, .create(_, _, isSynchronized: true): true
    default: false
    }
  }

  /// The change as it is when its sync is left out.
  var withoutSynchronization: RecordedChange? {
    switch self {
    case .create(let path, let bytes, isSynchronized: true): .create(path, bytes: bytes, isSynchronized: false)
    case .synchronizeFile, .synchronizeDirectory: nil
    default: self
    }
  }
}

/// A file system that writes down every change, in order.
final class RecordingFiles: FileOperations {
  private let system = POSIXFileOperations()
  private let root: String
  private let refusesLinks: Bool
  private let log = Mutex<[RecordedChange]>([])

  init(root: String, refusesLinks: Bool = false) {
    self.root = root
    self.refusesLinks = refusesLinks
  }

  var changes: [RecordedChange] { log.withLock { $0 } }

  private func relative(_ path: String) -> String {
    path == root ? "" : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  fileprivate func record(_ change: RecordedChange) { log.withLock { $0.append(change) } }

  fileprivate func bytes(_ path: String) -> [UInt8] { (try? system.readFile(path, limit: 1 << 24)) ?? [] }

  func status(of path: String) throws(FileError) -> FileStatus? { try system.status(of: path) }
  func names(in folder: String) throws(FileError) -> [String] { try system.names(in: folder) }

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try system.makeDirectory(path, attributes: attributes)
    record(.makeDirectory(relative(path)))
  }

  func removeDirectory(_ path: String) throws(FileError) {
    try system.removeDirectory(path)
    record(.removeDirectory(relative(path)))
  }

  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try system.makeEmptyFile(path, attributes: attributes)
    record(.create(relative(path), bytes: [], isSynchronized: false))
  }

  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    try system.writeNewFile(path, bytes: bytes, attributes: attributes)
    record(.create(relative(path), bytes: bytes, isSynchronized: true))
  }

  func synchronizeFile(_ path: String) throws(FileError) {
    try system.synchronizeFile(path)
    record(.synchronizeFile(relative(path), bytes: bytes(path)))
  }

  func synchronizeDirectory(_ path: String) throws(FileError) {
    try system.synchronizeDirectory(path)
    record(.synchronizeDirectory(relative(path)))
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    if refusesLinks { throw FileError(.link, path, to: newPath, code: EPERM) }
    try system.link(path, to: newPath)
    record(.link(relative(path), relative(newPath)))
  }

  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    try system.copyFile(path, to: newPath, attributes: attributes)
    record(.create(relative(newPath), bytes: bytes(newPath), isSynchronized: true))
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try system.rename(path, to: newPath)
    record(.rename(relative(path), relative(newPath)))
  }

  func unlink(_ path: String) throws(FileError) {
    try system.unlink(path)
    record(.unlink(relative(path)))
  }

  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] { try system.readFile(path, limit: limit) }
  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try system.readStart(of: path, count: count)
  }
  func resolvePath(_ path: String) throws(FileError) -> String { try system.resolvePath(path) }
  func checkWritable(_ folder: String) throws(FileError) { try system.checkWritable(folder) }
  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    if try system.status(of: path) == nil { record(.create(relative(path), bytes: [], isSynchronized: false)) }
    return try system.lock(path, timeout: timeout)
  }
  func hold(_ path: String) throws(FileError) -> any HeldFile {
    RecordingHeldFile(files: self, path: relative(path), held: try system.hold(path), root: root)
  }
  func volume(of path: String) throws(FileError) -> VolumeInformation { try system.volume(of: path) }
  func uniqueIdentifier() -> String { system.uniqueIdentifier() }
}

private final class RecordingHeldFile: HeldFile {
  let files: RecordingFiles
  let path: String
  let held: any HeldFile
  let root: String

  init(files: RecordingFiles, path: String, held: any HeldFile, root: String) {
    self.files = files
    self.path = path
    self.held = held
    self.root = root
  }

  func status() throws(FileError) -> FileStatus { try held.status() }
  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool { false }
  func copy(to path: String, attributes: FileAttributes) throws(FileError) {
    try held.copy(to: path, attributes: attributes)
    let relative = String(path.dropFirst(root.count + 1))
    files.record(.create(relative, bytes: files.bytes(path), isSynchronized: true))
  }
  // The store's own content is on the disk from the start in this model: SQLite's part has a model of its own.
  func synchronize() throws(FileError) { try held.synchronize() }
  func close() { held.close() }
}

/// What may be on the disk: each change of a name is durable on its own, until its folder is synced.
struct DiskModel {
  private struct Change {
    var name: String
    var node: Int?
  }

  private struct Folder {
    var current: [String: Int] = [:]
    var durable: [String: Int] = [:]
    var pending: [Change] = []
  }

  private struct File {
    var current: [UInt8]
    var durable: [UInt8]
  }

  private enum Node {
    case folder(Folder)
    case file(File)
  }

  private var nodes: [Node] = [.folder(Folder())]

  /// Takes over a folder whose whole content is on the disk.
  init(_ root: String) throws {
    let files = POSIXFileOperations()
    var known: [FileStatus.Identity: Int] = [:]
    func load(_ path: String, into node: inout Folder, nodes: inout [Node]) throws {
      for name in try files.names(in: path) {
        let inner = path + "/" + name
        guard let status = try files.status(of: inner) else { continue }
        let index = known[status.identity] ?? nodes.count
        if index < nodes.count {
          // A further name of a file.
        } else if status.kind == .directory {
          nodes.append(.folder(Folder()))
          var folder = Folder()
          try load(inner, into: &folder, nodes: &nodes)
          nodes[index] = .folder(folder)
        } else {
          let bytes = try files.readFile(inner, limit: 1 << 24)
          nodes.append(.file(File(current: bytes, durable: bytes)))
          known[status.identity] = index
        }
        node.current[name] = index
        node.durable[name] = index
      }
    }
    var folder = Folder()
    try load(root, into: &folder, nodes: &nodes)
    nodes[0] = .folder(folder)
  }

  // MARK: Changes

  private func find(_ path: String) -> Int? {
    var node = 0
    for name in path.split(separator: "/") {
      guard case .folder(let folder) = nodes[node], let next = folder.current[String(name)] else { return nil }
      node = next
    }
    return node
  }

  private mutating func set(_ path: String, _ node: Int?) {
    let parts = path.split(separator: "/")
    guard let name = parts.last.map(String.init), let parent = find(parts.dropLast().joined(separator: "/")),
      case .folder(var folder) = nodes[parent]
    else { return }
    folder.current[name] = node
    folder.pending.append(Change(name: name, node: node))
    nodes[parent] = .folder(folder)
  }

  mutating func apply(_ change: RecordedChange) {
    switch change {
    case .makeDirectory(let path):
      nodes.append(.folder(Folder()))
      set(path, nodes.count - 1)
    case .create(let path, let bytes, let isSynchronized):
      nodes.append(.file(File(current: bytes, durable: isSynchronized ? bytes : [])))
      set(path, nodes.count - 1)
    case .synchronizeFile(let path, let bytes):
      if let node = find(path) { nodes[node] = .file(File(current: bytes, durable: bytes)) }
    case .synchronizeDirectory(let path):
      if let node = find(path), case .folder(var folder) = nodes[node] {
        folder.durable = folder.current
        folder.pending = []
        nodes[node] = .folder(folder)
      }
    case .link(let path, let newPath):
      if let node = find(path) { set(newPath, node) }
    case .rename(let path, let newPath):
      guard let node = find(path) else { return }
      let source = path.split(separator: "/").dropLast()
      set(newPath, node)
      // Within one folder the two ends are one change; across folders each is durable on its own.
      if source == newPath.split(separator: "/").dropLast() {
        mergeLast(in: source.joined(separator: "/"), removing: String(path.split(separator: "/").last ?? ""))
      } else {
        set(path, nil)
      }
    case .unlink(let path), .removeDirectory(let path):
      set(path, nil)
    }
  }

  private mutating func mergeLast(in path: String, removing name: String) {
    guard let node = find(path), case .folder(var folder) = nodes[node], let last = folder.pending.popLast() else {
      return
    }
    folder.current[name] = nil
    // A removal that shares its fate with the change before it: see `choices`.
    folder.pending.append(Change(name: last.name + "\u{0}" + name, node: last.node))
    nodes[node] = .folder(folder)
  }

  // MARK: Crash states

  /// The folders with changes that may or may not last, and how many each has.
  var pending: [(node: Int, count: Int)] {
    nodes.enumerated().compactMap { index, node in
      guard case .folder(let folder) = node, !folder.pending.isEmpty else { return nil }
      return (index, folder.pending.count)
    }
  }

  /// One outcome of a crash, as a list that is equal for equal outcomes.
  struct Outcome: Hashable {
    /// Paths of folders.
    var folders: [String] = []
    /// Paths of files, each with its file's number.
    var files: [(path: String, node: Int)] = []
    /// The content of the files by number.
    var content: [Int: [UInt8]] = [:]

    static func == (left: Outcome, right: Outcome) -> Bool {
      left.folders == right.folders && left.content == right.content
        && left.files.elementsEqual(right.files) { $0.path == $1.path && $0.node == $1.node }
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(folders)
      for file in files {
        hasher.combine(file.path)
        hasher.combine(file.node)
        hasher.combine(content[file.node]?.count)
      }
    }

    /// Makes the outcome real.
    func write(to root: String) throws {
      let system = POSIXFileOperations()
      for folder in folders { try system.makeDirectory(root + "/" + folder, attributes: FileAttributes(mode: 0o755)) }
      var first: [Int: String] = [:]
      for (path, node) in files {
        if let other = first[node] {
          try system.link(other, to: root + "/" + path)
        } else {
          first[node] = root + "/" + path
          try system.writeNewFile(
            root + "/" + path, bytes: content[node] ?? [], attributes: FileAttributes(mode: 0o644))
        }
      }
    }
  }

  /// Builds the outcome in which the chosen changes lasted.
  ///
  /// - Parameters:
  ///   - chosen: For each pending change, in the order of ``pending``, whether it lasted.
  ///   - keepsData: Whether content that was not synced lasted.
  /// - Returns: The outcome.
  func outcome(_ chosen: [Bool], keepsData: Bool) -> Outcome {
    var names: [Int: [String: Int]] = [:]
    var position = 0
    for (index, node) in nodes.enumerated() {
      guard case .folder(let folder) = node else { continue }
      var durable = folder.durable
      for change in folder.pending {
        defer { position += 1 }
        guard chosen[position] else { continue }
        let parts = change.name.split(separator: "\u{0}").map(String.init)
        durable[parts[0]] = change.node
        if parts.count > 1 { durable[parts[1]] = nil }
      }
      names[index] = durable
    }
    var outcome = Outcome()
    func visit(_ node: Int, _ path: String) {
      for (name, inner) in (names[node] ?? [:]).sorted(by: { $0.key < $1.key }) {
        let innerPath = path.isEmpty ? name : path + "/" + name
        switch nodes[inner] {
        case .folder:
          outcome.folders.append(innerPath)
          visit(inner, innerPath)
        case .file(let file):
          outcome.files.append((innerPath, inner))
          outcome.content[inner] = keepsData ? file.current : file.durable
        }
      }
    }
    visit(0, "")
    return outcome
  }
}
