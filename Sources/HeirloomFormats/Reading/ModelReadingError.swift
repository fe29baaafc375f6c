package import HeirloomModel

/// A failure to read a model from a file.
public struct ModelReadingError: Error, Hashable, Sendable {
  /// The file; `nil` if the bytes came from elsewhere.
  public let path: String?
  package let problem: Problem
  /// From 1; `nil` if it isn't known or the file isn't text.
  package let line: Int?

  package init(path: String? = nil, problem: Problem, line: Int? = nil) {
    (self.path, self.problem, self.line) = (path, problem, line)
  }

  package enum Problem: Hashable, Sendable {
    case missing
    case unreadable(reason: String)
    case tooLarge(byteCount: Int, limit: Int)
    case notModel(Content)
    /// Of the right kind, but damaged or incomplete.
    case malformed(reason: String)
    case inconsistent(ModelError)
    /// Source code that doesn't determine one model.
    case undecided(reason: String, advice: String)
    /// Also a damaged lock.
    case notLock(reason: String)
    case laterLock(reason: String)
    case unsupportedSnapshotFormat(Int)
    /// A snapshot whose hashes don't match its model.
    case hashMismatch(entities: [String])
  }

  /// Found instead of a model.
  package enum Content: Hashable, Sendable {
    case emptyFile
    case text
    case unknownData
    case sqliteStore
    case xmlStore
    case mappingModel
    case optimizedModel
    case oldBinaryModel
    case otherPropertyList
    case otherXML(rootElement: String)
    case otherJSON
    case folder
    case bundleWithoutVersions
    case specialFile
  }

  init(path: String? = nil, _ error: FormatError) {
    self.init(path: path, problem: .malformed(reason: error.reason), line: error.line)
  }

  static func wrapping<Value>(_ body: () throws(FormatError) -> Value) throws(ModelReadingError) -> Value {
    do throws(FormatError) {
      return try body()
    } catch {
      throw ModelReadingError(error)
    }
  }

  package func inFile(_ path: String) -> ModelReadingError {
    ModelReadingError(path: self.path ?? path, problem: problem, line: line)
  }
}

extension ModelReadingError: ExplainedError {
  /// The file and what was found instead of a model.
  public var cause: String {
    let file = path.map { "\"\($0)\"" } ?? "The data"
    let place = line.map { "\(file), line \($0)," } ?? file
    return switch problem {
    case .missing: "There is no file at \(path.map { "\"\($0)\"" } ?? "the given path"); a model was expected."
    case .unreadable(let reason): "\(file) can't be read: \(ErrorWords.ended(reason))"
    case .tooLarge(let byteCount, let limit):
      "\(file) has \(CountText.counted(byteCount, "byte")); a model has at most \(CountText.grouped(limit))."
    case .notModel(let content): "\(file) is \(content.description); a model was expected."
    case .malformed(let reason): "\(place) is not a complete model: \(ErrorWords.ended(reason))"
    case .notLock(let reason): "\(file) is not a lock of model versions: \(ErrorWords.ended(reason))"
    case .laterLock(let reason): "\(file) is a lock of a later release: \(ErrorWords.ended(reason))"
    case .undecided(let reason, _): "\(file) doesn't determine a single model: \(ErrorWords.ended(reason))"
    case .inconsistent(let error): "\(place) doesn't contain a consistent model: \(error.description)"
    case .unsupportedSnapshotFormat(let format):
      "\(file) is a snapshot of format \(format); this version reads format 1."
    case .hashMismatch(let entities):
      "\(file) has hashes that don't match its model, for \(Self.list(entities)); it was edited by hand or is damaged."
    }
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(5).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
    return names.isEmpty ? "the whole model" : names.count > 5 ? shown + " and \(names.count - 5) more" : shown
  }
}

extension ModelReadingError.Content: CustomStringConvertible {
  /// The end of a sentence.
  package var description: String {
    switch self {
    case .emptyFile: "an empty file"
    case .text: "a text file of another kind"
    case .unknownData: "a file of an unknown kind"
    case .sqliteStore: "a SQLite store"
    case .xmlStore: "a store of Core Data's XML type"
    case .mappingModel: "a mapping model"
    case .optimizedModel: "an optimized model (.omo), which only Apple's frameworks read"
    case .oldBinaryModel: "a model in the binary format of Xcode before 4.3"
    case .otherPropertyList: "a property list without a model"
    case .otherXML(let rootElement): "an XML document with the root element <\(rootElement.prefix(80))>"
    case .otherJSON: "a JSON file that is not a snapshot"
    case .folder: "a folder that is not a model bundle"
    case .bundleWithoutVersions: "a model bundle without any version"
    case .specialFile: "neither a file nor a folder"
    }
  }
}

extension ModelReadingError {
  /// A suggestion to use another file or to repair this one; a model contains no data.
  public var help: ErrorHelp {
    let advice =
      switch problem {
      case .missing: "Check the path."
      case .unreadable: "Check that the file may be read, and try again."
      case .notModel(.sqliteStore):
        "Give the model that belongs to the store: an .xcdatamodeld, a .momd, or a snapshot beside the store."
      case .notModel(.xmlStore): "Give the model that belongs to the store: an .xcdatamodeld or a .momd."
      case .notModel(.mappingModel): "Give the model; a mapping model is given in addition to it."
      case .notModel(.optimizedModel): "Use the .mom of the same name beside it."
      case .notModel(.oldBinaryModel):
        "Open the model in Xcode 4.3 or later, which converts it, or use the compiled .mom."
      case .notModel(.bundleWithoutVersions): "Restore the bundle's versions, for example from version control."
      case .notModel:
        "Use an .xcdatamodeld or .xcdatamodel, a .momd or .mom, a snapshot (.json, .json.gz) or a folder of snapshots."
      case .unsupportedSnapshotFormat, .laterLock: "Use a newer version of Heirloom."
      case .notLock:
        "Restore the file from version control; the order of versions, the floor and the consents to losses are in it."
          + " If another program wrote it, give the history a separate folder."
      case .undecided(_, let advice): advice
      case .tooLarge, .malformed, .inconsistent, .hashMismatch:
        "Restore the file, for example from version control. A store's own model can be read from the store."
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
    case .notModel, .tooLarge: 259
    case .malformed, .notLock, .laterLock, .unsupportedSnapshotFormat: 134_010
    case .inconsistent, .hashMismatch, .undecided: 134_020
    }
  }
}
