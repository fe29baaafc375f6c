package import HeirloomModel

/// A model that another module read from several files, and the places of its parts in them.
package struct HeldModel: Hashable, Sendable {
  /// The model, as far as it is known.
  package enum Reading: Hashable, Sendable {
    /// A model with the hashes of its stores.
    case certain(ManagedObjectModel)
    /// A model that can be shown, but that no store can be held against, with the reason.
    case doubtful(ManagedObjectModel, ModelReadingError)
    /// No model, with the reason.
    case failed(ModelReadingError)
  }

  /// The model, as far as it is known.
  package let reading: Reading
  /// The file to edit, which declares the version.
  package let file: String
  /// The line of the declaration in that file, from 1; `nil` for classes that were named by hand.
  package let line: Int?
  /// The places of entities and properties, such as `Models/Chat.swift:41`, by `Entity` and `Entity.property`.
  package let places: [String: String]

  /// Creates a held model.
  package init(_ reading: Reading, file: String, line: Int?, places: [String: String]) {
    (self.reading, self.file, self.line, self.places) = (reading, file, line, places)
  }

  /// Returns the place of an entity or a property, elements of composites by their attribute's; `nil` for what isn't there.
  package static func place(of entity: String?, _ property: String?, in places: [String: String]) -> String? {
    guard let entity, !places.isEmpty else { return nil }
    guard let property else { return places[entity] }
    let name = property.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? property
    return places["\(entity).\(name)"]
  }

  /// Returns the model.
  ///
  /// - Throws: ``ModelReadingError`` if stores can't be held against it.
  func read() throws(ModelReadingError) -> ReadModel {
    switch reading {
    case .certain(let model): return ReadModel(model: model)
    case .doubtful(_, let problem), .failed(let problem): throw problem
    }
  }
}
