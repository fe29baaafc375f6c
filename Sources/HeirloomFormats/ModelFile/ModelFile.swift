import HeirloomModel

/// A file or bundle of any known kind that contains models.
package struct ModelFile: Equatable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// An `.xcdatamodel`.
    case source
    /// An `.xcdatamodeld`.
    case sourceBundle
    /// A `.mom`.
    case compiled
    /// A `.momd`.
    case compiledBundle
    /// JSON or compressed JSON.
    case snapshot
    /// Possibly with the sources of the snapshots.
    case snapshotFolder
    /// Without a file of its own, such as a model declared in source code.
    case inMemory(InMemoryModel)
  }

  /// Without a slash at its end.
  package let path: String
  package let kind: Kind

  /// Determines the kind without parsing; throws ``ModelReadingError`` if there is no model.
  package init(_ path: String) throws(ModelReadingError) {
    let path = Self.withoutSlash(path)
    self.path = path
    switch try FileContents.kind(path) {
    case .special: throw ModelReadingError(path: path, problem: .notModel(.specialFile))
    case .folder: kind = try Self.kind(ofFolder: path)
    case .file: kind = try Self.kind(ofFile: path)
    }
  }

  package init(unchecked path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }

  /// Reads the current version of a bundle; errors contain the failing file's path.
  package func read() throws(ModelReadingError) -> ReadModel {
    switch kind {
    case .inMemory(let held):
      return try held.read()
    case .source:
      guard try FileContents.kind(path) == .folder else { return try Self.read(path, from: path) }
      let contents = Self.contents(ofSource: path)
      // Without this file, the folder is of another kind, which the error reports.
      guard FileContents.exists(contents) else { return try ModelFile(path).read() }
      return try Self.read(contents, from: path)
    case .compiled, .snapshot:
      return try Self.read(path, from: path)
    case .sourceBundle, .compiledBundle, .snapshotFolder:
      let list = try ModelVersionList(path)
      guard let current = list.currentVersion else {
        throw ModelReadingError(path: path, problem: .notModel(.bundleWithoutVersions))
      }
      return try current.file.read()
    }
  }

  package static func read(_ path: String) throws(ModelReadingError) -> ReadModel {
    try ModelFile(path).read()
  }

  package static func bytes(of path: String) throws(ModelReadingError) -> [UInt8] { try FileContents.bytes(path) }

  package static func folder(of path: String) -> String { FileNames.folder(of: path) }

  // MARK: - Kinds

  private static func kind(ofFolder path: String) throws(ModelReadingError) -> Kind {
    if FileContents.exists(contents(ofSource: path)) { return .source }
    let names = try FileContents.names(in: path)
    if names.contains(FileNames.oldSource) { throw ModelReadingError(path: path, problem: .notModel(.oldBinaryModel)) }
    if names.contains(FileNames.mappingSource) {
      throw ModelReadingError(path: path, problem: .notModel(.mappingModel))
    }
    if path.hasSuffix(FileNames.sourceExtension) {
      throw ModelReadingError(
        path: path, problem: .malformed(reason: "the file \"contents\" is missing from the model's folder"))
    }
    if path.hasSuffix(FileNames.sourceBundleExtension)
      || names.contains(where: { $0.hasSuffix(FileNames.sourceExtension) })
    {
      return .sourceBundle
    }
    if path.hasSuffix(FileNames.compiledBundleExtension)
      || names.contains(where: { $0.hasSuffix(FileNames.compiledExtension) })
    {
      return .compiledBundle
    }
    let isStory = names.contains { name in
      name == FileNames.lock || name.hasSuffix(FileNames.bundleLock) || name.hasSuffix(FileNames.sourceBundleExtension)
        || FileNames.isSnapshot(name)
    }
    guard isStory else { throw ModelReadingError(path: path, problem: .notModel(.folder)) }
    return .snapshotFolder
  }

  private static func kind(ofFile path: String) throws(ModelReadingError) -> Kind {
    let bytes = try FileContents.bytes(path)
    switch FileSignature(bytes) {
    case .binaryPropertyList: return .compiled
    case .xml: return .source
    case .gzip, .json: return .snapshot
    case .other(let content): throw ModelReadingError(path: path, problem: .notModel(content))
    }
  }

  private static func read(_ file: String, from path: String) throws(ModelReadingError) -> ReadModel {
    let bytes = try FileContents.bytes(file)
    do throws(ModelReadingError) {
      switch FileSignature(bytes) {
      case .binaryPropertyList: return try ModelArchiveReader.read(bytes)
      case .xml: return try ModelSourceReader.read(bytes)
      case .gzip, .json: return ReadModel(model: try ModelSnapshot(bytes: bytes).model)
      case .other(let content): throw ModelReadingError(problem: .notModel(content))
      }
    } catch {
      throw error.inFile(path)
    }
  }

  private static func contents(ofSource path: String) -> String {
    path + "/" + FileNames.source
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}

package enum FileNames {
  package static let source = "contents"
  package static let oldSource = "elements"
  static let mappingSource = "xcmapping.xml"
  package static let currentVersion = ".xccurrentversion"
  static let versionInfo = "VersionInfo.plist"
  package static let lock = "lock.json"
  static let sourceExtension = ".xcdatamodel"
  static let sourceBundleExtension = ".xcdatamodeld"
  static let mappingExtension = ".xcmappingmodel"
  static let compiledMappingExtension = ".cdm"
  static let compiledExtension = ".mom"
  static let compiledBundleExtension = ".momd"
  static let snapshotExtensions = [".json", ".json.gz"]

  package static func isSnapshot(_ name: String) -> Bool {
    name != lock && !name.hasSuffix(bundleLock) && snapshotExtensions.contains { name.hasSuffix($0) }
  }

  /// The last component of a path.
  package static func base(_ path: String, without ending: String = "") -> String {
    let name = path.names(separatedBy: "/", omittingEmptySubsequences: true).last.map(String.init) ?? path
    return ending.isEmpty || !name.hasSuffix(ending) ? name : String(name.dropLast(ending.count))
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
