import HeirloomModel

/// Indexes of models from before fetch indexes, in today's form.
enum LegacyIndexes {
  /// Returns the indexes of the properties that are marked as indexed, by name.
  static func indexes(ofProperties names: [String]) -> [FetchIndexDescription] {
    names.ordered().map {
      FetchIndexDescription(name: $0, elements: [FetchIndexElementDescription(property: $0)])
    }
  }

  /// Returns the index of several properties together, or `nil` for none.
  static func index(ofCompound names: [String]) -> FetchIndexDescription? {
    guard !names.isEmpty else { return nil }
    return FetchIndexDescription(
      name: names.joined(separator: "_"), elements: names.map { FetchIndexElementDescription(property: $0) })
  }

  /// Returns all indexes of an entity; of two with one name the explicit one counts.
  static func merged(
    legacy: [FetchIndexDescription], explicit: [FetchIndexDescription]
  ) -> [FetchIndexDescription] {
    var names = Set(explicit.map(\.name))
    return legacy.filter { names.insert($0.name).inserted } + explicit
  }
}
