public import Foundation
public import HeirloomMapping

package enum MappingModelFile {
  /// In bytes.
  static let limit = 16 << 20

  package enum Kind: Hashable, Sendable {
    /// An `.xcmappingmodel`, or the XML in it.
    case source
    /// A `.cdm`.
    case compiled
  }

  /// The path is that of an `.xcmappingmodel`, of the `xcmapping.xml` in it, or of a `.cdm`.
  package static func read(_ path: String) throws(MappingReadingError) -> (read: ReadMappingModel, kind: Kind) {
    let bytes = try bytes(path)
    do throws(MappingReadingError) {
      return try read(bytes)
    } catch {
      throw error.inFile(path)
    }
  }

  package static func read(_ bytes: [UInt8]) throws(MappingReadingError) -> (read: ReadMappingModel, kind: Kind) {
    switch FileSignature(bytes) {
    case .binaryPropertyList: return (try MappingArchiveReader.read(bytes), .compiled)
    case .xml: return (try MappingSourceReader.read(bytes), .source)
    case .gzip: throw MappingReadingError(problem: .notMappingModel(found: "a compressed file"))
    case .json: throw MappingReadingError(problem: .notMappingModel(found: "a JSON file"))
    case .other(let content): throw MappingReadingError(problem: .notMappingModel(found: content.description))
    }
  }

  /// Also true for a damaged mapping model.
  ///
  /// Files are recognized by their content; unreadable ones don't count.
  package static func isMappingModel(_ path: String) -> Bool {
    guard let kind = try? FileContents.kind(path) else { return false }
    switch kind {
    case .folder: return FileContents.exists(path + "/" + FileNames.mappingSource)
    case .special: return false
    case .file:
      guard let bytes = try? FileContents.bytes(path, limit: limit) else { return false }
      do throws(MappingReadingError) {
        _ = try read(bytes)
        return true
      } catch {
        if case .notMappingModel = error.problem { return false }
        return path.hasSuffix(FileNames.compiledMappingExtension) || path.hasSuffix(FileNames.mappingSource)
      }
    }
  }

  /// Errors contain the given path.
  private static func bytes(_ path: String) throws(MappingReadingError) -> [UInt8] {
    do throws(ModelReadingError) {
      guard try FileContents.kind(path) == .folder else { return try FileContents.bytes(path, limit: limit) }
      let source = path + "/" + FileNames.mappingSource
      if FileContents.exists(source) { return try FileContents.bytes(source, limit: limit) }
    } catch {
      throw MappingReadingError(path: path, problem: MappingReadingError(error).problem)
    }
    // A folder with this extension is damaged; any other is something else.
    if path.hasSuffix(FileNames.mappingExtension) || path.hasSuffix(FileNames.mappingExtension + "/") {
      throw MappingReadingError(
        path: path, problem: .malformed(reason: "the file \"\(FileNames.mappingSource)\" is missing from the folder"))
    }
    let isModel = (try? ModelFile(path)) != nil
    throw MappingReadingError(
      path: path, problem: .notMappingModel(found: isModel ? "a model" : "a folder that is not a mapping model"))
  }
}

extension MappingModel {
  /// Reads a mapping model.
  ///
  /// It has the same effect as in Core Data: a property without a mapping has the value of a newly created object, and
  /// a source entity without a mapping is dropped. ``completed(from:to:)`` adds the mappings that Xcode's compiler
  /// would generate, and an assistant calls it.
  ///
  /// - Parameter url: The location of an `.xcmappingmodel`, or of a compiled `.cdm`.
  /// - Throws: ``MappingReadingError`` for anything else.
  public init(contentsOf url: URL) throws(MappingReadingError) {
    self = try MappingModelFile.read(url.path).read.mappingModel
  }
}
