import Foundation
package import Heirloom

/// A model bundle in which versions are made; only this type writes into `.xcdatamodeld`.
///
/// A version is written under a hidden name and then renamed; after that, the file
/// `.xccurrentversion` is replaced. Whenever a run is interrupted, the current version is the old
/// one or the new one.
package struct VersionBundle {
  package let path: String
  private let files: any FileOperations

  /// Of each file of a version, in bytes.
  private static let byteLimit = 64 << 20

  package init(path: String, files: any FileOperations = POSIXFileOperations()) {
    self.path = path
    self.files = files
  }

  private func folder(of version: String) -> String { "\(path)/\(version).xcdatamodel" }
  private var note: String { path + "/" + CurrentVersionFile.name }

  /// Only regular files, because a symbolic link could point outside of the bundle.
  package func content(of version: String) throws(FileError) -> [String: [UInt8]] {
    let folder = folder(of: version)
    guard let status = try files.status(of: folder), status.kind == .directory else {
      throw FileError(.read, folder, code: 0, reason: "it isn't a folder in the bundle")
    }
    var content: [String: [UInt8]] = [:]
    for name in try files.names(in: folder) {
      let file = folder + "/" + name
      guard let status = try files.status(of: file), status.kind == .regular else {
        throw FileError(.read, file, code: 0, reason: "a version holds only files, not links or folders")
      }
      content[name] = try files.withoutLinks.readFile(file, limit: Self.byteLimit)
    }
    return content
  }

  /// `content` has the new version's files by name; `nil` if the version exists already.
  ///
  /// If it throws `FileError`, the current version is unchanged.
  package func makeCurrent(_ version: String, content: [String: [UInt8]]?) throws(FileError) {
    try removeDrafts()
    let found = try files.status(of: note)
    if let found, found.kind != .regular {
      throw FileError(.write, note, code: 0, reason: "it is a \(found.kind.rawValue), not a file of the bundle's own")
    }
    let old = found == nil ? [] : try files.readFile(note, limit: Self.byteLimit)
    if let content { try write(content, to: folder(of: version)) }
    try SnapshotFile(path: note, files: files).write(CurrentVersionFile.bytes(naming: version, in: old))
  }

  /// If it throws, there is no bundle.
  package func make(first version: String, content: [String: [UInt8]]) throws(FileError) {
    let folder = ModelFile.folder(of: path)
    try FolderMaker(files: files).makeFolders(folder)
    let draft = VersionBundle(path: draftPath(in: folder), files: files)
    do throws(FileError) {
      try files.makeDirectory(draft.path, attributes: FileAttributes(mode: 0o755))
      try draft.makeCurrent(version, content: content)
      try give(draft.path, name: path)
    } catch {
      try? FolderTree(files: files).remove(draft.path)
      throw error
    }
  }

  private func write(_ content: [String: [UInt8]], to folder: String) throws(FileError) {
    let draft = draftPath(in: path)
    do throws(FileError) {
      try files.makeDirectory(draft, attributes: FileAttributes(mode: 0o755))
      for (name, bytes) in content.sorted(by: { $0.key < $1.key }) {
        try files.writeNewFile(draft + "/" + name, bytes: bytes, attributes: FileAttributes(mode: 0o644))
      }
      try files.synchronizeDirectory(draft)
      try give(draft, name: folder)
    } catch {
      try? FolderTree(files: files).remove(draft)
      throw error
    }
  }

  /// Checks first, because a rename would replace an empty folder.
  private func give(_ draft: String, name: String) throws(FileError) {
    guard try files.status(of: name) == nil else {
      throw FileError(.rename, draft, to: name, code: 0, reason: "something else has that name")
    }
    try files.rename(draft, to: name)
    try files.synchronizeDirectory(ModelFile.folder(of: name))
  }

  private func draftPath(in folder: String) -> String { "\(folder)/.heirloom-\(files.uniqueIdentifier()).tmp" }

  /// In seconds; another run may still be writing a younger draft.
  private static let draftAge: Int64 = 600

  private func removeDrafts() throws(FileError) {
    for name in try files.names(in: path) {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      let isDraft = name.hasPrefix(".heirloom-") || name.hasPrefix(CurrentVersionFile.name + ".")
      let id = parts.dropLast().last.map { $0.hasPrefix("heirloom-") ? $0.dropFirst(9) : $0 } ?? ""
      guard isDraft, parts.last == "tmp", id.count == 32, id.allSatisfy(\.isHexDigit),
        let status = try files.status(of: path + "/" + name),
        Int64(Date().timeIntervalSince1970) - status.modificationTime > Self.draftAge
      else { continue }
      try FolderTree(files: files).remove(path + "/" + name)
    }
  }
}
