public import Foundation
public import HeirloomMapping

/// The reading of mapping models from files of any known kind.
package enum MappingModelFile {
  /// The most bytes that a mapping model's file may have.
  static let limit = 16 << 20

  /// The kind of a mapping model's file.
  package enum Kind: Hashable, Sendable {
    /// An `.xcmappingmodel`, or the XML in it.
    case source
    /// A `.cdm`.
    case compiled
  }

  /// Reads the mapping model at a path.
  ///
  /// - Parameter path: The path of an `.xcmappingmodel`, of the `xcmapping.xml` in it, or of a `.cdm`.
  /// - Returns: The mapping model, what was not understood, and the kind of file.
  /// - Throws: ``MappingReadingError`` with the path.
  package static func read(_ path: String) throws(MappingReadingError) -> (read: ReadMappingModel, kind: Kind) {
    let bytes = try bytes(path)
    do throws(MappingReadingError) {
      return try read(bytes)
    } catch {
      throw error.inFile(path)
    }
  }

  /// Reads the mapping model that bytes hold.
  ///
  /// - Parameter bytes: A whole file.
  /// - Returns: The mapping model, what was not understood, and the kind of file.
  /// - Throws: ``MappingReadingError``.
  package static func read(_ bytes: [UInt8]) throws(MappingReadingError) -> (read: ReadMappingModel, kind: Kind) {
    switch FileSignature(bytes) {
    case .binaryPropertyList: return (try MappingArchiveReader.read(bytes), .compiled)
    case .xml: return (try MappingSourceReader.read(bytes), .source)
    case .gzip: throw MappingReadingError(problem: .notMappingModel(found: "a compressed file"))
    case .json: throw MappingReadingError(problem: .notMappingModel(found: "a JSON file"))
    case .other(let content): throw MappingReadingError(problem: .notMappingModel(found: content.description))
    }
  }

  /// Tells whether a path leads to something that is read as a mapping model.
  ///
  /// Files are judged by their content; those that can't be read don't count.
  ///
  /// - Parameter path: Any path.
  /// - Returns: `true` for a mapping model, even a damaged one.
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

  /// Returns the bytes of the file that a path names; errors name the path, not the file inside a folder.
  private static func bytes(_ path: String) throws(MappingReadingError) -> [UInt8] {
    do throws(ModelReadingError) {
      guard try FileContents.kind(path) == .folder else { return try FileContents.bytes(path, limit: limit) }
      let source = path + "/" + FileNames.mappingSource
      if FileContents.exists(source) { return try FileContents.bytes(source, limit: limit) }
    } catch {
      throw MappingReadingError(path: path, problem: MappingReadingError(error).problem)
    }
    // A folder of this name is damaged; any other is something else.
    if path.hasSuffix(FileNames.mappingExtension) || path.hasSuffix(FileNames.mappingExtension + "/") {
      throw MappingReadingError(
        path: path, problem: .malformed(reason: "the file \"\(FileNames.mappingSource)\" is missing from the folder"))
    }
    let isModel = (try? ModelFile(path)) != nil
    throw MappingReadingError(
      path: path, problem: .notMappingModel(found: isModel ? "a model" : "a folder that is no mapping model"))
  }
}

extension MappingModel {
  /// Reads a mapping model.
  ///
  /// It means the same as in Core Data: a property without a mapping has the value of a newly made object, and a source
  /// entity without one is dropped. ``completed(from:to:)`` adds what Xcode's compiler would write, and an assistant
  /// does so by itself.
  ///
  /// - Parameter url: The place of an `.xcmappingmodel`, or of a compiled `.cdm`.
  /// - Throws: ``MappingReadingError`` for anything else.
  public init(contentsOf url: URL) throws(MappingReadingError) {
    self = try MappingModelFile.read(url.path).read.mappingModel
  }
}
