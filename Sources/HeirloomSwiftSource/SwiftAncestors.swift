/// The protocols and classes of each type that give it members: types, aliases, or initializers that can fail.
struct SwiftAncestors {
  /// The full names of the ancestors, by the full name of the type.
  private(set) var paths: [String: [[String]]] = [:]

  private let source: SwiftDataSource

  /// The most ancestors of a type that are looked at; chains without an end would take the square of their length.
  private static let limit = 100

  /// The ancestors of a protocol of the library, which are the library's too.
  private static let refined: [String: [String]] = [
    "PersistentModel": ["Identifiable", "Hashable", "Observable", "Sendable"], "Codable": ["Decodable", "Encodable"],
    "Hashable": ["Equatable"], "Comparable": ["Equatable"], "Strideable": ["Comparable"], "Error": ["Sendable"],
    "LocalizedError": ["Error"], "AppEntity": ["Identifiable", "Sendable"], "AppEnum": ["CaseIterable", "Hashable"],
    "ShapeStyle": ["Sendable"], "LosslessStringConvertible": ["CustomStringConvertible"],
  ]
  /// The types that a protocol of the library gives every type that has it.
  static let associated: [String: [String]] = [
    "Identifiable": ["ID"], "CaseIterable": ["AllCases"], "RawRepresentable": ["RawValue"], "View": ["Body"],
    "Strideable": ["Stride"], "ShapeStyle": ["Resolved"], "Plottable": ["PrimitivePlottable"],
    "Transferable": ["Representation"], "AppEntity": ["DefaultQuery"],
    "ObservableObject": ["ObjectWillChangePublisher"],
  ]

  /// Finds the ancestors of types.
  ///
  /// - Parameters:
  ///   - types: The types, with all declarations of each.
  ///   - holders: The full names of all that have members.
  ///   - source: The declarations.
  init(of types: [String: [SwiftDeclaration]], among holders: Set<String>, in source: SwiftDataSource) {
    self.source = source
    var parents: [String: [[String]]] = [:]
    for (name, found) in types {
      guard let own = found.first?.path else { continue }
      var (seen, waiting): (Set<String>, [[String]]) = ([], [own])
      while let path = waiting.popLast(), seen.count <= Self.limit {
        let key = path.joined(separator: ".")
        guard seen.insert(key).inserted else { continue }
        if key != name, holders.contains(key) { paths[name, default: []].append(path) }
        if parents[key] == nil {
          let all = ((types[key] ?? []) + source.extensions(of: path)).flatMap(self.parents)
          parents[key] = all + (Self.refined[key] ?? []).map { [$0] }
        }
        waiting += parents[key, default: []].prefix(Self.limit)
      }
    }
  }

  /// Returns the full names of what a declaration inherits from, and of what its kind has unwritten.
  private func parents(of declaration: SwiftDeclaration) -> [[String]] {
    var result: [[String]] = []
    if declaration.has("Model") { result.append(["PersistentModel"]) }
    if declaration.kind == .enumeration { result += [["Hashable"], ["RawRepresentable"]] }
    for names in declaration.inherited.flatMap(\.names) {
      switch source.type(.named(names), in: declaration.scope.outer) {
      case .declared(let found): result.append(found.path)
      case .library(let name): result.append(name.split(separator: ".").map(String.init))
      case .other(let text, _): result += SwiftTypeName.other(text).names
      default: result += source.candidates(for: names, in: declaration.scope.outer).types.map(\.path)
      }
    }
    return result
  }
}
