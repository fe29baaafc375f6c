import HeirloomModel

/// Converts the indexes of models older than fetch indexes.
enum LegacyIndexes {
  /// Returns the indexes of properties with the indexed flag, by name.
  static func indexes(ofProperties names: [String]) -> [FetchIndexDescription] {
    names.ordered().map {
      FetchIndexDescription(name: $0, elements: [FetchIndexElementDescription(property: $0)])
    }
  }

  /// Returns a compound index; `nil` for no properties.
  static func index(ofCompound names: [String]) -> FetchIndexDescription? {
    guard !names.isEmpty else { return nil }
    return FetchIndexDescription(
      name: names.joined(separator: "_"), elements: names.map { FetchIndexElementDescription(property: $0) })
  }

  /// Returns all indexes of an entity; an explicit index replaces an old one of the same name.
  static func merged(
    legacy: [FetchIndexDescription], explicit: [FetchIndexDescription]
  ) -> [FetchIndexDescription] {
    var names = Set(explicit.map(\.name))
    return legacy.filter { names.insert($0.name).inserted } + explicit
  }
}
