import HeirloomModel

/// Converts the indexes of models older than fetch indexes.
enum LegacyIndexes {
  static func indexes(ofProperties names: [String]) -> [FetchIndexDescription] {
    names.ordered().map {
      FetchIndexDescription(name: $0, elements: [FetchIndexElementDescription(property: $0)])
    }
  }

  static func index(ofCompound names: [String]) -> FetchIndexDescription? {
    guard !names.isEmpty else { return nil }
    return FetchIndexDescription(
      name: names.joined(separator: "_"), elements: names.map { FetchIndexElementDescription(property: $0) })
  }

  /// An explicit index replaces an old one of the same name.
  static func merged(
    legacy: [FetchIndexDescription], explicit: [FetchIndexDescription]
  ) -> [FetchIndexDescription] {
    var names = Set(explicit.map(\.name))
    return legacy.filter { names.insert($0.name).inserted } + explicit
  }
}
