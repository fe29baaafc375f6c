import Foundation
import Heirloom
import HeirloomSwiftSource

extension Console {
  /// A place in Swift source that a word of the command line names, as in `Sources/Models:SchemaV2`.
  struct SwiftSource {
    /// The folder or file.
    let path: String
    /// The schema, or classes separated by commas; `nil` for the newest schema.
    let name: String?

    /// The schema or the classes that are named.
    var roots: [String] { name?.split(separator: ",").map(String.init) ?? [] }

    /// Finds out whether a path leads to Swift source; `nil` if it doesn't.
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

    /// Returns true if a folder is that of the source, however the two paths are written.
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
          // A lock or other JSON may lie in a Swift folder; with models or snapshots in it, the folder is theirs.
          guard case .snapshotFolder = try ModelFile(path).kind else { return false }
          return SwiftFolder.isSource(path) && !SnapshotFolder.holdsModels(path)
        } catch {
          return error.problem == .notModel(.folder) && SwiftFolder.isSource(path)
        }
      default: return false
      }
    }
  }

  /// Lists the versions of the model at a path: a file, a bundle, a folder, or Swift source.
  ///
  /// - Parameter path: A path; of Swift source, `:SCHEMA` after it names the version that is meant.
  /// - Returns: The versions, of which Swift source's are read already.
  /// - Throws: `ModelReadingError` if there is no model.
  func versions(at path: String) throws(ModelReadingError) -> ModelVersionList {
    guard let source = SwiftSource(path) else { return try ModelVersionList(path) }
    return try ModelVersionList(swiftSource: source.path, named: source.name, excluding: excludedSources)
  }

  /// Returns the paths of the models at a path: of a folder with several bundles, each of them.
  static func modelPaths(_ path: String) -> [String] {
    guard case .folder = PathKind(path) else { return [path] }
    let bundles = SnapshotFolder.bundles(in: path)
    return bundles.count > 1 ? bundles : [path]
  }

  /// Reads the history of a model that is merged of those at some paths, or of the one.
  ///
  /// - Parameter paths: Paths, as of ``versions(at:)``.
  /// - Returns: The history.
  /// - Throws: `ModelReadingError` if there is no readable current model, `ModelError` for models that can't be
  ///   merged.
  func history(merging paths: [String]) throws -> ModelHistory {
    try ModelHistory(merging: paths.map(history))
  }

  /// Reads the history of the model at a path.
  ///
  /// - Parameter path: A path, as of ``versions(at:)``.
  /// - Returns: The history.
  /// - Throws: `ModelReadingError` if there is no readable current model.
  func history(at path: String) throws(ModelReadingError) -> ModelHistory {
    try ModelHistory(versions(at: path), path: path)
  }

  /// Returns true for the path of one version, rather than of all of its bundle.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - list: The versions at it.
  /// - Returns: False also for a plan's name in Swift source.
  /// - Throws: `ModelReadingError` if there is no model.
  func namesOneVersion(_ path: String, in list: ModelVersionList) throws(ModelReadingError) -> Bool {
    if let source = SwiftSource(path) { return source.name != nil && source.name == list.currentVersionName }
    return switch try ModelFile(path).kind {
    case .source, .compiled, .snapshot, .held: true
    case .sourceBundle, .compiledBundle, .snapshotFolder: false
    }
  }
}

extension Command.Option {
  /// The option for the other models that a model is merged of.
  static let with = Command.Option(
    name: "--with", value: "MODEL", isRepeatable: true,
    summary: "for a store whose model is merged of several: another of them; a folder of bundles means all in it")
  /// The option to leave out parts of Swift source.
  static let exclude = Command.Option(
    name: "--exclude", value: "FOLDER", isRepeatable: true,
    summary: "of Swift source, a folder or file to leave out, as a path from the source's folder")
}
