import Foundation
package import HeirloomFormats
import HeirloomModel

/// A folder's Swift files, or one file.
package struct SwiftFolder {
  package let path: String
  package private(set) var source = SwiftDataSource()
  package private(set) var fileCount = 0
  /// Folders and links that were skipped, as paths relative to the folder.
  package private(set) var passedOver: [String] = []

  package private(set) var unknownExclusions: Set<String>

  private let isFile: Bool
  private let excluded: Set<String>
  private var byteCount = 0

  /// Folders that other tools download or generate, not source of the app.
  private static let foreignFolders: Set<String> = ["Carthage", "DerivedData", "Pods", "node_modules"]
  private static let fileLimit = 50_000
  private static let byteLimit = 512 << 20
  private static let depthLimit = 64

  /// `excluding` has paths relative to the folder.
  ///
  /// Hidden folders, links and folders of downloaded packages are skipped and recorded.
  package init(_ path: String, excluding: [String] = []) throws(ModelReadingError) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
    excluded = Set(excluding.map(Self.tidy))
    unknownExclusions = excluded
    // A folder's name may be `SQLite.swift`.
    var status = stat()
    isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    if isFile {
      try add(path, name: String(path.names(separatedBy: "/", omittingEmptySubsequences: true).last ?? ""))
    } else {
      try readFolder("", depth: 0)
    }
  }

  var name: String {
    let last = String(path.names(separatedBy: "/", omittingEmptySubsequences: true).last ?? "")
    return last.hasSuffix(".swift") ? String(last.dropLast(".swift".count)) : last
  }

  package var directory: String { isFile ? ModelFile.folder(of: path) : path }

  package func file(of place: SwiftPlace) -> String { isFile ? path : "\(path)/\(source.files[place.file].path)" }

  package static func isSource(_ path: String) -> Bool {
    var waiting = [path]
    var count = 0
    // The search is limited, so that it doesn't go through a whole home folder.
    while let folder = waiting.popLast(), count < 10_000 {
      for name in (try? names(in: folder)) ?? [] where !name.hasPrefix(".") && !foreignFolders.contains(name) {
        count += 1
        guard let isFolder = kind("\(folder)/\(name)") else { continue }
        if isFolder { waiting.append("\(folder)/\(name)") } else if name.hasSuffix(".swift") { return true }
      }
    }
    return false
  }

  private static func tidy(_ path: String) -> String {
    path.names(separatedBy: "/", omittingEmptySubsequences: true).filter { $0 != "." }.joined(separator: "/")
  }

  /// True for a folder and false for a file; `nil` for links and anything else.
  private static func kind(_ path: String) -> Bool? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return true
    case S_IFREG: return false
    default: return nil
    }
  }

  private mutating func readFolder(_ folder: String, depth: Int) throws(ModelReadingError) {
    guard depth < Self.depthLimit else {
      throw ModelReadingError(
        path: "\(path)/\(folder)",
        problem: .malformed(reason: "folders are nested more than \(Self.depthLimit) levels deep"))
    }
    let place = folder.isEmpty ? path : "\(path)/\(folder)"
    for name in try Self.names(in: place) {
      let inside = folder.isEmpty ? name : "\(folder)/\(name)"
      unknownExclusions.remove(inside)
      let isForeign = name.hasPrefix(".") || Self.foreignFolders.contains(name)
      switch Self.kind("\(place)/\(name)") {
      case true? where isForeign || excluded.contains(inside): passedOver.append(inside)
      case true?: try readFolder(inside, depth: depth + 1)
      case false? where !name.hasSuffix(".swift"): break
      case false? where excluded.contains(inside): passedOver.append(inside)
      case false?: try add("\(place)/\(name)", name: inside)
      case nil: passedOver.append(inside)
      }
    }
  }

  private static func names(in folder: String) throws(ModelReadingError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted { NaturalOrder.precedes($0, $1) }
    } catch {
      throw ModelReadingError(path: folder, problem: .unreadable(reason: "its content can't be listed"))
    }
  }

  private mutating func add(_ file: String, name: String) throws(ModelReadingError) {
    let bytes = try ModelFile.bytes(of: file)
    fileCount += 1
    byteCount += bytes.count
    guard fileCount <= Self.fileLimit, byteCount <= Self.byteLimit else {
      throw ModelReadingError(
        path: path,
        problem: .malformed(
          reason: "it contains more than \(Self.fileLimit) Swift files, or more than \(Self.byteLimit >> 20) MiB of"
            + " them"))
    }
    source.add(bytes, path: name)
  }
}
