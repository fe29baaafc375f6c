import HeirloomModel

/// A file or bundle of any known kind that contains models.
package struct ModelFile: Equatable, Sendable {
  /// The kind of file or bundle at a path.
  package enum Kind: Hashable, Sendable {
    /// A model source, an `.xcdatamodel`.
    case source
    /// Model sources in versions, an `.xcdatamodeld`.
    case sourceBundle
    /// A compiled model, a `.mom`.
    case compiled
    /// Compiled models in versions, a `.momd`.
    case compiledBundle
    /// A snapshot, as JSON or compressed JSON.
    case snapshot
    /// A folder of snapshots, possibly with their sources.
    case snapshotFolder
    /// A model without a file of its own, such as one declared in source code; it is in memory.
    case inMemory(InMemoryModel)
  }

  /// The path, without a slash at its end.
  package let path: String
  /// The kind of file or bundle at the path.
  package let kind: Kind

  /// Determines the kind of a file or folder without parsing it.
  ///
  /// Throws ``ModelReadingError`` if there is no model at the path.
  package init(_ path: String) throws(ModelReadingError) {
    let path = Self.withoutSlash(path)
    self.path = path
    switch try FileContents.kind(path) {
    case .special: throw ModelReadingError(path: path, problem: .notModel(.specialFile))
    case .folder: kind = try Self.kind(ofFolder: path)
    case .file: kind = try Self.kind(ofFile: path)
    }
  }

  /// Creates a reference to a file or bundle of a known kind.
  package init(unchecked path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }

  /// Reads the model, or that of a bundle's current version; throws `ModelReadingError` with the failing file's path.
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

  /// Reads the model of the file or bundle at a path; throws `ModelReadingError` with the failing file's path.
  package static func read(_ path: String) throws(ModelReadingError) -> ReadModel {
    try ModelFile(path).read()
  }

  /// Returns the bytes of a model's or lock's file, which must be regular and within the size limit.
  package static func bytes(of path: String) throws(ModelReadingError) -> [UInt8] { try FileContents.bytes(path) }

  /// Returns the folder that contains a path.
  package static func folder(of path: String) -> String { FileNames.folder(of: path) }

  // MARK: - Kinds

  /// Returns the kind of a folder, determined by its content.
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

  /// Returns the kind of a file, determined by its first bytes.
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

/// Names and extensions of model files and folders.
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

  /// Returns true for a snapshot's file name.
  package static func isSnapshot(_ name: String) -> Bool {
    name != lock && !name.hasSuffix(bundleLock) && snapshotExtensions.contains { name.hasSuffix($0) }
  }

  /// Returns the last component of a path without the given ending.
  package static func base(_ path: String, without ending: String = "") -> String {
    let name = path.names(separatedBy: "/", omittingEmptySubsequences: true).last.map(String.init) ?? path
    return ending.isEmpty || !name.hasSuffix(ending) ? name : String(name.dropLast(ending.count))
  }

  /// Returns the folder that contains a path.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
