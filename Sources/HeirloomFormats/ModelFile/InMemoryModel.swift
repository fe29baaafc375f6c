package import HeirloomModel

/// A model that another module read from several files, with the source locations of its parts.
package struct InMemoryModel: Hashable, Sendable {
  package enum Reading: Hashable, Sendable {
    /// A model whose version hashes are certain.
    case certain(ManagedObjectModel)
    /// A model that can be shown but not compared with stores.
    case doubtful(ManagedObjectModel, ModelReadingError)
    case failed(ModelReadingError)
  }

  package let reading: Reading
  /// The file to edit, which declares the version.
  package let file: String
  /// Of the declaration in `file`, from 1; `nil` for classes that the user named.
  package let line: Int?
  /// Such as `Models/Chat.swift:41`, by `Entity` and `Entity.property`.
  package let places: [String: String]

  package init(_ reading: Reading, file: String, line: Int?, places: [String: String]) {
    (self.reading, self.file, self.line, self.places) = (reading, file, line, places)
  }

  /// For an element of a composite, the location of the attribute.
  package static func place(of entity: String?, _ property: String?, in places: [String: String]) -> String? {
    guard let entity, !places.isEmpty else { return nil }
    guard let property else { return places[entity] }
    let name = property.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? property
    return places["\(entity).\(name)"]
  }

  /// Throws ``ModelReadingError`` for a model that can't be compared with stores.
  func read() throws(ModelReadingError) -> ReadModel {
    switch reading {
    case .certain(let model): return ReadModel(model: model)
    case .doubtful(_, let problem), .failed(let problem): throw problem
    }
  }
}
