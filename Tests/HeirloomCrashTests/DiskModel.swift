import Foundation
import HeirloomMigration
import HeirloomVault

/// The possible contents of the disk after a loss of power.
///
/// Names and content that were changed since their last sync may have lasted or not, each independently.
///
/// A rename within one folder is one change; the two ends of a rename across folders are two.
struct DiskModel {
  /// A change of names that lasts as a whole or not at all.
  struct NameChange {
    var names: [(name: String, node: Int?)]
  }

  struct Folder {
    var current: [String: Int] = [:]
    var durable: [String: Int] = [:]
    var pending: [NameChange] = []
  }

  enum ContentChange {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
    case setNote([UInt8])

    var isNote: Bool {
      guard case .setNote = self else { return false }
      return true
    }

    func apply(to content: inout [UInt8], note: inout [UInt8]) {
      switch self {
      case .setNote(let bytes): note = bytes
      case .truncate(let size):
        if size < content.count {
          content.removeLast(content.count - size)
        } else {
          content += [UInt8](repeating: 0, count: size - content.count)
        }
      case .write(let offset, let bytes):
        let end = offset + bytes.count
        if end > content.count { content += [UInt8](repeating: 0, count: end - content.count) }
        // This is not done byte by byte, since unoptimised code would replace a part of an array.
        content.withUnsafeMutableBytes { content in
          bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: content[offset..<end]).copyMemory(from: $0) }
        }
      }
    }

    /// The change as a disk leaves it that lost power after its first sector.
    var torn: ContentChange? {
      guard case .write(let offset, let bytes) = self else { return nil }
      return .write(offset: offset, bytes: Array(bytes.prefix(512)))
    }
  }

  struct File {
    var current: [UInt8]
    var durable: [UInt8]
    /// The attribute; empty if there is none.
    var note: [UInt8] = []
    var durableNote: [UInt8] = []
    var pending: [ContentChange] = []
  }

  enum Node {
    case folder(Folder)
    case file(File)
    case link(String)
  }

  private(set) var nodes: [Node] = [.folder(Folder())]
  private var handles: [UInt64: Int] = [:]

  /// All that is read counts as on the disk; `-shm`, the memory that connections share, is left
  /// out, since it does not outlive them.
  init(_ root: String) throws {
    let files = POSIXFileOperations()
    var known: [FileStatus.Identity: Int] = [:]
    func load(_ path: String, nodes: inout [Node]) throws -> Folder {
      var folder = Folder()
      for name in try files.names(in: path) where !name.hasSuffix("-shm") {
        let inner = path + "/" + name
        guard let status = try files.status(of: inner) else { continue }
        let index = known[status.identity] ?? nodes.count
        if index < nodes.count {
          // It is a further name of a file.
        } else if status.kind == .directory {
          nodes.append(.folder(Folder()))
          nodes[index] = .folder(try load(inner, nodes: &nodes))
        } else if status.kind == .symbolicLink {
          nodes.append(.link(try FileManager.default.destinationOfSymbolicLink(atPath: inner)))
        } else {
          let bytes = try files.readFile(inner, limit: 1 << 26)
          let note = FileNote.read(inner)
          nodes.append(.file(File(current: bytes, durable: bytes, note: note, durableNote: note)))
          known[status.identity] = index
        }
        folder.current[name] = index
        folder.durable[name] = index
      }
      return folder
    }
    nodes[0] = .folder(try load(root, nodes: &nodes))
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

  private func find(_ file: SystemChange.File) -> Int? {
    switch file {
    case .path(let path): find(path)
    case .handle(let handle): handles[handle]
    }
  }

  /// Changes names of one folder in a single change.
  private mutating func set(in folder: String, _ names: [(name: String, node: Int?)]) {
    guard let parent = find(folder), case .folder(var value) = nodes[parent] else { return }
    for (name, node) in names { value.current[name] = node }
    value.pending.append(NameChange(names: names))
    nodes[parent] = .folder(value)
  }

  private mutating func set(_ path: String, _ node: Int?) {
    let (folder, name) = Self.split(path)
    set(in: folder, [(name, node)])
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  private mutating func change(_ file: SystemChange.File, _ change: ContentChange) {
    guard let node = find(file), case .file(var value) = nodes[node] else { return }
    // The array leaves the model while it changes; otherwise it would be copied.
    nodes[node] = .file(File(current: [], durable: []))
    change.apply(to: &value.current, note: &value.note)
    value.pending.append(change)
    nodes[node] = .file(value)
  }

  mutating func apply(_ change: SystemChange) {
    switch change {
    case .makeDirectory(let path):
      nodes.append(.folder(Folder()))
      set(path, nodes.count - 1)
    case .create(let path):
      nodes.append(.file(File(current: [], durable: [])))
      set(path, nodes.count - 1)
    case .open(let handle, let path, let makes):
      if find(path) == nil, makes {
        nodes.append(.file(File(current: [], durable: [])))
        set(path, nodes.count - 1)
      }
      handles[handle] = find(path)
    case .write(let file, let offset, let bytes): self.change(file, .write(offset: offset, bytes: bytes))
    case .truncate(let file, let size): self.change(file, .truncate(size))
    case .setNote(let path, let note): self.change(.path(path), .setNote(note))
    case .synchronize(let file):
      if let node = find(file), case .file(var value) = nodes[node] {
        value.durable = value.current
        value.durableNote = value.note
        value.pending = []
        nodes[node] = .file(value)
      }
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
      let (source, name) = Self.split(path)
      let (destination, newName) = Self.split(newPath)
      if source == destination {
        set(in: source, [(newName, node), (name, nil)])
      } else {
        set(newPath, node)
        set(path, nil)
      }
    case .unlink(let path), .removeDirectory(let path):
      if find(path) != nil { set(path, nil) }
    }
  }
}
