import Foundation
import HeirloomMigration
import TestSupport
import HeirloomVault

/// The different file contents of a run, each with a number.
final class ContentTable {
  /// Bytes as a key: an array hashes its bytes one by one, which is slow for whole stores.
  private struct Content: Hashable {
    let bytes: [UInt8]
    let note: [UInt8]

    static func == (left: Content, right: Content) -> Bool {
      guard left.bytes.count == right.bytes.count, left.note == right.note else { return false }
      return left.bytes.withUnsafeBytes { left in
        right.bytes.withUnsafeBytes { right in
          guard let first = left.baseAddress, let second = right.baseAddress else { return true }
          return memcmp(first, second, left.count) == 0
        }
      }
    }

    func hash(into hasher: inout Hasher) {
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(note)
    }
  }

  private var numbers: [Content: Int] = [:]
  private(set) var contents: [(bytes: [UInt8], note: [UInt8])] = []

  func number(of bytes: [UInt8], note: [UInt8]) -> Int {
    let content = Content(bytes: bytes, note: note)
    if let known = numbers[content] { return known }
    numbers[content] = contents.count
    contents.append((bytes, note))
    return contents.count - 1
  }
}

/// One state in which a loss of power may leave a folder; equal states are equal values.
struct DiskState: Hashable {
  struct File: Hashable {
    var path: String
    /// A number that two names of one file share, counted in the order of the paths.
    var inode: Int
    /// The content's number in the table.
    var content: Int
  }

  /// Each after the folder that holds it.
  var folders: [String] = []
  /// Sorted by path.
  var files: [File] = []
  /// The targets, by path.
  var links: [String: String] = [:]

  /// `root` must be empty.
  func write(to root: String, _ table: ContentTable) throws {
    let system = POSIXFileOperations()
    for folder in folders { try system.makeDirectory(root + "/" + folder, attributes: FileAttributes(mode: 0o755)) }
    var first: [Int: String] = [:]
    for file in files {
      let path = root + "/" + file.path
      if let other = first[file.inode] {
        try system.link(other, to: path)
      } else {
        first[file.inode] = path
        let content = table.contents[file.content]
        try system.writeNewFile(path, bytes: content.bytes, attributes: FileAttributes(mode: 0o644))
        FileNote.write(content.note, path)
      }
    }
    for (path, target) in links {
      try FileManager.default.createSymbolicLink(atPath: root + "/" + path, withDestinationPath: target)
    }
  }
}

extension DiskModel {
  /// The most states of names that are tried at one moment; of more, the first ones are.
  static let nameLimit = 4_096

  /// Lists the states in which a loss of power at this moment may leave the folder.
  ///
  /// Every subset of the pending changes of names is tried. For the content these are tried: each file without and with
  /// its pending changes in every combination (up to four such files, otherwise none and all), all with the last write
  /// torn after 512 bytes, a random prefix, a random subset of the pending changes, and all but the attributes.
  /// States in `seen` are not listed again; new ones are added to it.
  func newStates(
    _ table: ContentTable, random: inout SplitMix64, seen: inout Set<DiskState>
  ) -> (states: [DiskState], wasCut: Bool) {
    let layouts = self.layouts(of: 0, path: "")
    let contents = self.contents(table, random: &random)
    var states: [DiskState] = []
    for layout in layouts.list {
      for content in contents {
        let state = self.state(layout, content)
        if seen.insert(state).inserted { states.append(state) }
      }
    }
    return (states, layouts.wasCut)
  }

  private func state(_ layout: [(path: String, node: Int)], _ content: [Int: Int]) -> DiskState {
    var state = DiskState()
    var inodes: [Int: Int] = [:]
    for (path, node) in layout {
      if let number = content[node] {
        let inode = inodes[node] ?? inodes.count
        inodes[node] = inode
        state.files.append(DiskState.File(path: path, inode: inode, content: number))
      } else if case .link(let target) = nodes[node] {
        state.links[path] = target
      } else {
        state.folders.append(path)
      }
    }
    return state
  }

  // MARK: Names

  /// The paths are sorted by name in each folder.
  private func layouts(of node: Int, path: String) -> (list: [[(path: String, node: Int)]], wasCut: Bool) {
    guard case .folder(let folder) = nodes[node] else { return ([], false) }
    var wasCut = false
    // The order is fixed, since a selection of states must be the same in every run.
    var sets: [[String: Int]] = []
    var known: Set<[String: Int]> = []
    let count = folder.pending.count
    let choices = count < 12 ? 1 << count : Self.nameLimit
    wasCut = count > 12
    for choice in 0..<choices {
      var names = folder.durable
      for (index, change) in folder.pending.enumerated() where choice >> index & 1 == 1 {
        for (name, node) in change.names { names[name] = node }
      }
      if known.insert(names).inserted { sets.append(names) }
    }
    if wasCut, known.insert(folder.current).inserted { sets.append(folder.current) }
    var result: [[(path: String, node: Int)]] = []
    for names in sets {
      var layouts: [[(path: String, node: Int)]] = [[]]
      for (name, inner) in names.sorted(by: { $0.key < $1.key }) {
        let innerPath = path.isEmpty ? name : path + "/" + name
        for index in layouts.indices { layouts[index].append((innerPath, inner)) }
        guard case .folder = nodes[inner] else { continue }
        let below = self.layouts(of: inner, path: innerPath)
        wasCut = wasCut || below.wasCut
        if below.list.count == 1 {
          for index in layouts.indices { layouts[index] += below.list[0] }
        } else {
          layouts = layouts.flatMap { layout in below.list.map { layout + $0 } }
        }
        if layouts.count > Self.nameLimit {
          layouts.removeLast(layouts.count - Self.nameLimit)
          wasCut = true
        }
      }
      result += layouts
    }
    if result.count > Self.nameLimit {
      result.removeLast(result.count - Self.nameLimit)
      wasCut = true
    }
    return (result, wasCut)
  }

  // MARK: Content

  /// Each is the numbers of contents by node.
  private func contents(_ table: ContentTable, random: inout SplitMix64) -> [[Int: Int]] {
    var base: [Int: Int] = [:]
    var unsynced: [(node: Int, file: File)] = []
    for (index, node) in nodes.enumerated() {
      guard case .file(let file) = node else { continue }
      base[index] = table.number(of: file.durable, note: file.durableNote)
      if !file.pending.isEmpty { unsynced.append((index, file)) }
    }
    guard !unsynced.isEmpty else { return [base] }
    var result: [[Int: Int]] = []
    var known: Set<[Int: Int]> = []
    func take(_ content: [Int: Int]) {
      if known.insert(content).inserted { result.append(content) }
    }
    let masks = unsynced.count <= 4 ? Array(0..<(1 << unsynced.count)) : [0, (1 << unsynced.count) - 1]
    for mask in masks {
      var content = base
      for (index, (node, file)) in unsynced.enumerated() where mask >> index & 1 == 1 {
        content[node] = table.number(of: file.current, note: file.note)
      }
      take(content)
    }
    func add(_ change: (_ file: File, _ random: inout SplitMix64) -> [ContentChange]) {
      var content = base
      for (node, file) in unsynced {
        var (bytes, note) = (file.durable, file.durableNote)
        for change in change(file, &random) { change.apply(to: &bytes, note: &note) }
        content[node] = table.number(of: bytes, note: note)
      }
      take(content)
    }
    if unsynced.contains(where: { $0.file.pending.contains(where: \.isNote) }) {
      add { file, _ in file.pending.filter { !$0.isNote } }
    }
    add { file, _ in
      guard let last = file.pending.last?.torn else { return Array(file.pending.dropLast()) }
      return file.pending.dropLast() + [last]
    }
    add { file, random in Array(file.pending.prefix(random.below(file.pending.count + 1))) }
    add { file, random in file.pending.filter { _ in random.below(2) == 1 } }
    return result
  }
}
