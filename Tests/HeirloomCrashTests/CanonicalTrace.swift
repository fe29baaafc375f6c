import Foundation

/// The calls for the files below a folder, in words that are the same for equal runs.
///
/// Consecutive writes to one file count as one, random names are numbered, and the memory that connections share
/// (`-shm`) is left out.
struct CanonicalTrace {
  private(set) var lines: [String] = []
  private var files: Set<String>
  private var names: [String: String] = [:]

  /// `files` are the paths of the files that are there, relative to the folder.
  init(files: Set<String>) {
    self.files = files
  }

  mutating func create(_ path: String) {
    guard files.insert(path).inserted else { return }
    add("make", path)
  }

  mutating func write(_ path: String) { add("write", path) }
  mutating func truncate(_ path: String) { add("cut", path) }
  mutating func setAttribute(_ path: String) { add("set an attribute of", path) }
  mutating func synchronize(_ path: String) { add("sync", path) }
  mutating func makeDirectory(_ path: String) { add("make folder", path) }
  mutating func removeDirectory(_ path: String) { add("remove folder", path) }

  mutating func link(_ path: String, _ newPath: String) {
    files.insert(newPath)
    add("link", path, newPath)
  }

  mutating func rename(_ path: String, _ newPath: String) {
    files.remove(path)
    files.insert(newPath)
    add("rename", path, newPath)
  }

  mutating func unlink(_ path: String) {
    files.remove(path)
    add("unlink", path)
  }

  private mutating func add(_ call: String, _ paths: String...) {
    guard !paths.contains(where: { $0.hasSuffix("-shm") }) else { return }
    let line = ([call] + paths.map { plain($0) }).joined(separator: " ")
    if call == "write", lines.last == line { return }
    lines.append(line)
  }

  /// Numbers a path's random parts in the order of their first use.
  private mutating func plain(_ path: String) -> String {
    var path = path
    for part in path.split(whereSeparator: { "/.".contains($0) }) {
      let text = String(part)
      let isIdentifier = text.count == 32 && text.allSatisfy(\.isHexDigit)
      let isVersion = text.count == 25 && text.contains("Z-")
      guard isIdentifier || isVersion else { continue }
      let name = names[text] ?? "#\(names.count + 1)"
      names[text] = name
      path = path.replacingOccurrences(of: text, with: name)
    }
    return path
  }

  mutating func add(_ changes: [SystemChange]) {
    var open: [UInt64: String] = [:]
    func path(_ file: SystemChange.File) -> String {
      switch file {
      case .path(let path): path
      case .handle(let handle): open[handle] ?? ""
      }
    }
    for change in changes {
      switch change {
      case .makeDirectory(let path): makeDirectory(path)
      case .removeDirectory(let path): removeDirectory(path)
      case .create(let path): create(path)
      case .open(let handle, let path, let makes):
        open[handle] = path
        if makes { create(path) }
      case .write(let file, _, _): write(path(file))
      case .truncate(let file, _): truncate(path(file))
      case .setNote(let path, _): setAttribute(path)
      case .synchronize(let file): synchronize(path(file))
      case .synchronizeDirectory(let path): synchronize(path)
      case .link(let path, let newPath): link(path, newPath)
      case .rename(let path, let newPath): rename(path, newPath)
      case .unlink(let path): unlink(path)
      }
    }
  }

  /// Reads the output of `strace -f -y`, without the calls that failed; returns the lines of unknown
  /// calls that may change something.
  mutating func add(strace text: String, root: String) -> [String] {
    var unknown: [String] = []
    for line in text.split(separator: "\n") {
      // A name behind an open folder is a path; strace writes a byte that is not UTF-8 in octal digits.
      let line = String(line).replacing(/<([^<>]*)>, "([^"\/][^"]*)"/) { "<\($0.1)>, \"\($0.1)/\($0.2)\"" }
        .replacing("\\377", with: "\u{10FFFF}")
      // 123 call(arguments) = result
      guard line.contains(root), let start = line.firstIndex(of: "("), !line.contains(" = -1 "),
        let call = line[..<start].split(separator: " ").last.map(String.init)
      else { continue }
      func relative(_ path: String) -> String? {
        path == root ? "" : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : nil
      }
      // These are the paths in quotes, and those that -y shows behind descriptors.
      let quoted = line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.compactMap { relative(String($0.element)) }
      let described = line[start...].split(separator: "<", omittingEmptySubsequences: false).dropFirst()
        .compactMap { text -> String? in
          guard let end = text.firstIndex(of: ">") else { return nil }
          return relative(String(text[..<end]).replacingOccurrences(of: " (deleted)", with: ""))
        }
      switch call {
      case "open", "openat", "creat":
        if line.contains("O_CREAT"), let path = quoted.first { create(path) }
      case "write", "pwrite64", "pwritev", "pwritev2", "writev", "sendfile", "copy_file_range":
        // copy_file_range names its source first, sendfile its destination.
        let path = call == "copy_file_range" ? described.last : described.first
        if let path { write(path) }
      case "ftruncate", "truncate": if let path = described.first ?? quoted.first { truncate(path) }
      case "fsetxattr": if let path = described.first { setAttribute(path) }
      case "setxattr", "lsetxattr", "removexattr", "lremovexattr", "fremovexattr": unknown.append(line)
      case "fsync", "fdatasync": if let path = described.first { synchronize(path) }
      case "mkdir", "mkdirat": if let path = quoted.first { makeDirectory(path) }
      case "rmdir": if let path = quoted.first { removeDirectory(path) }
      case "unlinkat" where line.contains("AT_REMOVEDIR"): if let path = quoted.first { removeDirectory(path) }
      case "unlink", "unlinkat": if let path = quoted.first { unlink(path) }
      case "link", "linkat": if quoted.count == 2 { link(quoted[0], quoted[1]) }
      case "rename", "renameat", "renameat2": if quoted.count == 2 { rename(quoted[0], quoted[1]) }
      case "symlink", "symlinkat", "fallocate", "mknod", "mknodat", "sync", "syncfs", "sync_file_range":
        unknown.append(line)
      case "ioctl" where line.contains("FICLONE"): unknown.append(line)
      default: break
      }
    }
    return unknown
  }
}
