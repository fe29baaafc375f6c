import Foundation
import Heirloom
import HeirloomSwiftSource

extension Console {
  /// Swift source, with a schema as in `Sources/Models:SchemaV2`.
  struct SwiftSource {
    let path: String
    /// The schema, or classes separated by commas; `nil` for the newest schema.
    let name: String?

    var roots: [String] { name?.split(separator: ",").map(String.init) ?? [] }

    init?(_ path: String) {
      if Self.isSource(path) {
        (self.path, name) = (path, nil)
        return
      }
      guard case .missing = PathKind(path), let colon = path.lastIndex(of: ":"),
        !path[colon...].contains("/"), path[colon...].count > 1, Self.isSource(String(path[..<colon]))
      else { return nil }
      (self.path, name) = (String(path[..<colon]), String(path[path.index(after: colon)...]))
    }

    /// Also true if one of the paths has symbolic links.
    func lies(in folder: String) -> Bool {
      let own = if case .folder = PathKind(path) { path } else { ModelFile.folder(of: path) }
      let resolved = [own, folder].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
      return resolved[0] == resolved[1]
    }

    private static func isSource(_ path: String) -> Bool {
      switch PathKind(path) {
      case .file: return path.hasSuffix(".swift")
      case .folder:
        do throws(ModelReadingError) {
          // A Swift folder may contain a lock or other JSON; models or snapshots make it a folder
          // of snapshots.
          guard case .snapshotFolder = try ModelFile(path).kind else { return false }
          return SwiftFolder.isSource(path) && !SnapshotFolder.holdsModels(path)
        } catch {
          return error.problem == .notModel(.folder) && SwiftFolder.isSource(path)
        }
      default: return false
      }
    }
  }

  /// In Swift source, `:SCHEMA` after the path selects a version, and all versions are read at
  /// once.
  func versions(at path: String, swift: SwiftHistory? = nil) throws(ModelReadingError) -> ModelVersionList {
    guard let source = SwiftSource(path) else { return try ModelVersionList(path) }
    let history = if let swift { swift } else { try read(source) }
    return try history.versions(named: source.name)
  }

  func read(_ source: SwiftSource) throws(ModelReadingError) -> SwiftHistory {
    try SwiftHistory(source.path, excluding: excludedSources)
  }

  /// All bundles in a folder that has several; otherwise the path itself.
  static func modelPaths(_ path: String) -> [String] {
    guard case .folder = PathKind(path) else { return [path] }
    let bundles = SnapshotFolder.bundles(in: path)
    return bundles.count > 1 ? bundles : [path]
  }

  func history(merging paths: [String]) throws -> ModelHistory {
    try ModelHistory(merging: paths.map(history))
  }

  func history(at path: String) throws(ModelReadingError) -> ModelHistory {
    try ModelHistory(versions(at: path), path: path)
  }

  /// False for a migration plan in Swift source, too.
  func namesOneVersion(_ path: String, in list: ModelVersionList) throws(ModelReadingError) -> Bool {
    if let source = SwiftSource(path) { return source.name != nil && source.name == list.currentVersionName }
    return switch try ModelFile(path).kind {
    case .source, .compiled, .snapshot, .inMemory: true
    case .sourceBundle, .compiledBundle, .snapshotFolder: false
    }
  }
}

extension Command.Option {
  static let with = Command.Option(
    name: "--with", value: "MODEL", isRepeatable: true,
    summary: "for a store whose model is merged of several: another of them; a folder of bundles means all in it")
  static let exclude = Command.Option(
    name: "--exclude", value: "FOLDER", isRepeatable: true,
    summary: "of Swift source, a folder or file to leave out, as a path from the source's folder")
}
