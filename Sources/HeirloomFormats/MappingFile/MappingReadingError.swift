public import Foundation
public import HeirloomMapping
import HeirloomModel

/// A file from which no mapping model could be read, and why.
public struct MappingReadingError: Error, Hashable, Sendable {
  /// The file; `nil` if the bytes came from elsewhere.
  public let path: String?
  /// What is wrong.
  public let problem: Problem

  /// Creates an error.
  public init(path: String? = nil, problem: Problem) {
    self.path = path
    self.problem = problem
  }

  /// What is wrong with a file from which a mapping model was to be read.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// There is nothing at the path.
    case missing
    /// The file system refuses to give the content.
    case unreadable(reason: String)
    /// The file is larger than any mapping model.
    case tooLarge(byteCount: Int, limit: Int)
    /// The file is something else than a mapping model; the text says what, as the end of a sentence.
    case notMappingModel(found: String)
    /// The file is of the right kind but damaged or incomplete.
    case malformed(reason: String)
    /// The mapping model doesn't fit the versions that it names.
    case unfit(source: String, destination: String, mismatches: [MappingMismatch])
  }

  /// The same problem, found in a file.
  package func inFile(_ path: String) -> MappingReadingError {
    MappingReadingError(path: self.path ?? path, problem: problem)
  }
}

extension MappingReadingError {
  /// Says of a mapping model's file what reading it as any file came to.
  init(_ error: ModelReadingError) {
    let problem: Problem =
      switch error.problem {
      case .missing: .missing
      case .unreadable(let reason): .unreadable(reason: reason)
      case .tooLarge(let byteCount, let limit): .tooLarge(byteCount: byteCount, limit: limit)
      case .notModel(let content): .notMappingModel(found: content.description)
      case .malformed(let reason): .malformed(reason: reason)
      default: .malformed(reason: error.description)
      }
    self.init(path: error.path, problem: problem)
  }
}

extension MappingReadingError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let file = path.map { "\"\($0)\"" } ?? "The data"
    return switch problem {
    case .missing: "There is no file at \(path.map { "\"\($0)\"" } ?? "the given path"); a mapping model was expected."
    case .unreadable(let reason): "\(file) can't be read: \(ErrorWords.ended(reason))"
    case .tooLarge(let byteCount, let limit):
      "\(file) has \(CountText.counted(byteCount, "byte")); a mapping model has at most \(CountText.grouped(limit))."
    case .notMappingModel(let found):
      "\(file) is \(found); a mapping model (.xcmappingmodel or .cdm) was expected."
    case .malformed(let reason):
      "\(file) is no complete mapping model: \(reason.hasSuffix(".") ? reason : reason + ".")"
    case .unfit(let source, let destination, let mismatches):
      "\(file) is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them: "
        + mismatches.map(\.description).joined(separator: " ")
    }
  }
}

extension MappingReadingError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to use instead, or how to repair it.
  public var recoverySuggestion: String? {
    switch problem {
    case .missing: "Check the path."
    case .unreadable: "Check that the file may be read, and try again."
    case .notMappingModel: "Use an .xcmappingmodel of Xcode's, or the .cdm that is compiled from it."
    case .unfit: "Give the mapping model that belongs to these versions, or update it in Xcode."
    case .tooLarge, .malformed: "Restore the file, for example from version control."
    }
  }
}
