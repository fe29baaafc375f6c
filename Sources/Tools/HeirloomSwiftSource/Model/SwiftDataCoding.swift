import HeirloomModel

/// Checks for coding other than the compiler-generated coding of stored properties or cases.
extension SwiftDataSource {
  /// Protocols of the system that don't affect the coding of a type; a class can't be inherited
  /// from them.
  static let harmlessProtocols: Set<String> = [
    "AnyObject", "AppEntity", "AppEnum", "BitwiseCopyable", "CaseIterable", "Codable", "CodingKeyRepresentable",
    "Comparable", "Copyable", "CustomDebugStringConvertible", "CustomLocalizedStringResourceConvertible",
    "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Error", "Escapable",
    "ExpressibleByIntegerLiteral", "ExpressibleByStringLiteral", "Hashable", "Identifiable", "LocalizedError",
    "LosslessStringConvertible", "Observable", "ObservableObject", "PersistentModel", "Plottable", "Sendable",
    "SendableMetatype", "ShapeStyle", "Strideable", "Transferable", "View",
  ]
  /// They don't affect a type's members.
  static let harmlessAttributes: Set<String> = ["available", "MainActor", "frozen", "objc"]

  /// `nil` for an enumeration without raw values.
  func rawType(of declaration: SwiftDeclaration) throws(SwiftDataAttributes.Problem) -> AttributeType? {
    guard let first = declaration.inherited.first else { return nil }
    let type = type(first, in: declaration.scope.outer)
    switch type {
    case .library("String"): return .string
    case .library("Int"): return .integer64
    case .library(let name) where Self.harmlessProtocols.contains(name): return nil
    case .declared(let found) where found.kind == .interface: return nil
    default:
      throw SwiftDataAttributes.Problem(
        reason: "\(declaration.name) may have the raw type \(type), and no known store shows one other than "
          + "String and Int")
    }
  }

  /// Coding keys select and name the coded members.
  func hasCodingKeys(_ declaration: SwiftDeclaration) -> Bool {
    let scope = SwiftScope(path: declaration.path, head: declaration.path.count, file: nil)
    let keys = candidates(for: ["CodingKeys"], in: scope)
    return (keys.types.map(\.path) + keys.aliases.map(\.scope.path)).contains { $0.starts(with: scope.path) }
  }

  /// The first inherited type of an enumeration with a raw type is that type.
  func codingObjection(to declaration: SwiftDeclaration, hasRawType: Bool = false) -> String? {
    if let attribute = declaration.attributes.first(where: { !Self.harmlessAttributes.contains($0.name) }) {
      return "the effect of @\(attribute.name) on \(declaration.name) isn't known"
    }
    let extensions = extensions(of: declaration.path)
    if let macro = (declaration.macros + extensions.flatMap(\.macros)).first {
      return "the effect of #\(macro.name) on \(declaration.name) isn't known"
    }
    // Extensions of these protocols affect every coded type.
    for name in ["Encodable", "Decodable", "Codable", "RawRepresentable"] {
      if let function = ownCoding([name]) {
        return "an extension of \(name) may give \(declaration.name) an \(function)"
      }
    }
    if let function = ownCoding(declaration.path) { return "\(declaration.name) has an \(function) of its own" }
    var waiting = declaration.inherited.dropFirst(hasRawType ? 1 : 0).map { ($0, declaration.scope.outer) }
    for added in extensions {
      let outside = SwiftScope(path: [], head: 0, file: added.place.file)
      waiting += added.inherited.map { ($0, outside) }
    }
    return objection(to: waiting, of: declaration.name)
  }

  private func ownCoding(_ path: [String]) -> String? {
    functions(of: path).subtracting(["init?"]).min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func objection(to parents: [(type: SwiftTypeName, scope: SwiftScope)], of owner: String) -> String? {
    var seen: Set<String> = []
    // In source order, each protocol before those it inherits from: the first reason is reported.
    var waiting = Array(parents.reversed())
    while let (parent, scope) = waiting.popLast() {
      let type = type(parent, in: scope)
      switch type {
      case .library(let name) where Self.harmlessProtocols.contains(name):
        if let function = ownCoding([name]) { return "an extension of \(name) may give \(owner) an \(function)" }
      case .declared(let found) where found.kind == .interface:
        guard seen.insert(found.path.joined(separator: ".")).inserted else { continue }
        if let function = ownCoding(found.path) {
          return "an extension of \(found.name) may give \(owner) an \(function)"
        }
        waiting += found.inherited.reversed().map { ($0, found.scope.outer) }
      default: return "\(owner) is \(type), which may change how it is stored"
      }
    }
    return nil
  }
}
