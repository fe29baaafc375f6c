package import HeirloomMapping
import HeirloomModel

/// A failure to read a mapping model from a file.
public struct MappingReadingError: Error, Hashable, Sendable {
  /// The file; `nil` if the bytes came from elsewhere.
  public let path: String?
  package let problem: Problem

  package init(path: String? = nil, problem: Problem) {
    self.path = path
    self.problem = problem
  }

  package enum Problem: Hashable, Sendable {
    case missing
    case unreadable(reason: String)
    case tooLarge(byteCount: Int, limit: Int)
    /// `found` is the end of a sentence.
    case notMappingModel(found: String)
    /// Of the right kind, but damaged or incomplete.
    case malformed(reason: String)
    /// A mapping model that doesn't match the versions that it names.
    case unfit(source: String, destination: String, mismatches: [MappingMismatch])
  }

  package func inFile(_ path: String) -> MappingReadingError {
    MappingReadingError(path: self.path ?? path, problem: problem)
  }
}

extension MappingReadingError {
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

extension MappingReadingError: ExplainedError {
  /// The file and what was found instead of a mapping model.
  public var cause: String {
    let file = path.map { "\"\($0)\"" } ?? "The data"
    return switch problem {
    case .missing: "There is no file at \(path.map { "\"\($0)\"" } ?? "the given path"); a mapping model was expected."
    case .unreadable(let reason): "\(file) can't be read: \(ErrorWords.ended(reason))"
    case .tooLarge(let byteCount, let limit):
      "\(file) has \(CountText.counted(byteCount, "byte")); a mapping model has at most \(CountText.grouped(limit))."
    case .notMappingModel(let found):
      "\(file) is \(found); a mapping model (.xcmappingmodel or .cdm) was expected."
    case .malformed(let reason):
      "\(file) is not a complete mapping model: \(ErrorWords.ended(reason))"
    case .unfit(let source, let destination, let mismatches):
      "\(file) is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them: "
        + mismatches.map(\.description).joined(separator: " ")
    }
  }

  /// A suggestion to use another file or to repair this one; a mapping model contains no data.
  public var help: ErrorHelp {
    let advice =
      switch problem {
      case .missing: "Check the path."
      case .unreadable: "Check that the file may be read, and try again."
      case .notMappingModel: "Use an .xcmappingmodel of Xcode's, or the .cdm that is compiled from it."
      case .unfit: "Give the mapping model that belongs to these versions, or update it in Xcode."
      case .tooLarge, .malformed: "Restore the file, for example from version control."
      }
    return ErrorHelp(nil, advice)
  }

  /// The same as `path`.
  public var filePath: String? { path }

  /// The code of a similar failure in Foundation or Core Data.
  public var coreDataCode: Int? {
    switch problem {
    case .missing: 260
    case .unreadable: 257
    case .notMappingModel, .tooLarge, .malformed: 259
    case .unfit: 134_140
    }
  }
}
