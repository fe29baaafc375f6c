/// The ancestors of each type (protocols and superclasses) that add types, aliases or failable
/// initializers to it.
struct SwiftAncestors {
  /// By the type's full name.
  private(set) var paths: [String: [[String]]] = [:]

  private let source: SwiftDataSource

  /// For ancestors per type: the work on a long chain grows with the square of its length.
  private static let limit = 100

  /// Ancestors of the library's protocols.
  private static let refined: [String: [String]] = [
    "PersistentModel": ["Identifiable", "Hashable", "Observable", "Sendable"], "Codable": ["Decodable", "Encodable"],
    "Hashable": ["Equatable"], "Comparable": ["Equatable"], "Strideable": ["Comparable"], "Error": ["Sendable"],
    "LocalizedError": ["Error"], "AppEntity": ["Identifiable", "Sendable"], "AppEnum": ["CaseIterable", "Hashable"],
    "ShapeStyle": ["Sendable"], "LosslessStringConvertible": ["CustomStringConvertible"],
  ]
  /// Associated types of the library's protocols.
  static let associated: [String: [String]] = [
    "Identifiable": ["ID"], "CaseIterable": ["AllCases"], "RawRepresentable": ["RawValue"], "View": ["Body"],
    "Strideable": ["Stride"], "ShapeStyle": ["Resolved"], "Plottable": ["PrimitivePlottable"],
    "Transferable": ["Representation"], "AppEntity": ["DefaultQuery"],
    "ObservableObject": ["ObjectWillChangePublisher"],
  ]

  /// `holders` are the types with members, by full name; only they are found.
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

  /// Full names, of implicit ones too.
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
