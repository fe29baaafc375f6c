import HeirloomModel

/// A place from which models are read: a file or a bundle of any known kind.
package struct ModelFile: Equatable, Sendable {
  /// The kind of thing that a path leads to.
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
    /// A folder of snapshots, perhaps with their sources.
    case snapshotFolder
    /// A model that stands in no file of its own, such as one that source code declares: it is held in memory.
    case held(HeldModel)
  }

  /// The path, without a slash at its end.
  package let path: String
  /// The kind of thing that the path leads to.
  package let kind: Kind

  /// Finds out the kind of thing that a path leads to, without parsing it.
  ///
  /// - Parameter path: The path of a file or folder.
  /// - Throws: ``ModelReadingError`` if there is nothing, or something that is not a model.
  package init(_ path: String) throws(ModelReadingError) {
    let path = Self.withoutSlash(path)
    self.path = path
    switch try FileContents.kind(path) {
    case .special: throw ModelReadingError(path: path, problem: .notModel(.specialFile))
    case .folder: kind = try Self.kind(ofFolder: path)
    case .file: kind = try Self.kind(ofFile: path)
    }
  }

  /// Creates a place whose kind is known from where it lies.
  package init(unchecked path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }

  /// Reads the model, or that of a bundle's current version.
  ///
  /// - Returns: The model and what was not understood.
  /// - Throws: ``ModelReadingError`` with the path of the file that can't be read.
  package func read() throws(ModelReadingError) -> ReadModel {
    switch kind {
    case .held(let held):
      return try held.read()
    case .source:
      guard try FileContents.kind(path) == .folder else { return try Self.read(path, from: path) }
      let contents = Self.contents(ofSource: path)
      // Without its file a source is of another kind, and the error says which.
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

  /// Reads the model at a path.
  ///
  /// - Parameter path: The path of a file or bundle of any known kind.
  /// - Returns: The model and what was not understood.
  /// - Throws: ``ModelReadingError`` with the path of the file that can't be read.
  package static func read(_ path: String) throws(ModelReadingError) -> ReadModel {
    try ModelFile(path).read()
  }

  /// Returns the bytes of a file that tells of a model: a regular one, and no larger than any of them.
  package static func bytes(of path: String) throws(ModelReadingError) -> [UInt8] { try FileContents.bytes(path) }

  /// Returns the folder that holds a path.
  package static func folder(of path: String) -> String { FileNames.folder(of: path) }

  // MARK: - Kinds

  /// Returns the kind of a folder, judged by what it holds.
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

  /// Returns the kind of a file, judged by its first bytes.
  private static func kind(ofFile path: String) throws(ModelReadingError) -> Kind {
    let bytes = try FileContents.bytes(path)
    switch FileSignature(bytes) {
    case .binaryPropertyList: return .compiled
    case .xml: return .source
    case .gzip, .json: return .snapshot
    case .other(let content): throw ModelReadingError(path: path, problem: .notModel(content))
    }
  }

  /// Reads a file of any kind.
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

  /// Returns the path of the file in a source's folder that holds the model.
  private static func contents(ofSource path: String) -> String {
    path + "/" + FileNames.source
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}

/// Names of files and folders that hold models.
enum FileNames {
  static let source = "contents"
  static let oldSource = "elements"
  static let mappingSource = "xcmapping.xml"
  static let currentVersion = ".xccurrentversion"
  static let versionInfo = "VersionInfo.plist"
  static let lock = "lock.json"
  static let sourceExtension = ".xcdatamodel"
  static let sourceBundleExtension = ".xcdatamodeld"
  static let mappingExtension = ".xcmappingmodel"
  static let compiledMappingExtension = ".cdm"
  static let compiledExtension = ".mom"
  static let compiledBundleExtension = ".momd"
  static let snapshotExtensions = [".json", ".json.gz"]

  /// Tells whether a name is that of a snapshot.
  static func isSnapshot(_ name: String) -> Bool {
    name != lock && !name.hasSuffix(bundleLock) && snapshotExtensions.contains { name.hasSuffix($0) }
  }

  /// Returns the last part of a path without the given ending.
  static func base(_ path: String, without ending: String = "") -> String {
    let name = path.names(separatedBy: "/", omittingEmptySubsequences: true).last.map(String.init) ?? path
    return ending.isEmpty || !name.hasSuffix(ending) ? name : String(name.dropLast(ending.count))
  }

  /// Returns the folder that holds a path.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
