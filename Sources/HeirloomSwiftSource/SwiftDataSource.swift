/// The declarations of several Swift files, found by name as Swift finds them.
package struct SwiftDataSource: Sendable {
  /// A file that was read.
  struct File: Sendable {
    let path: String
    let tokens: SwiftTokens
  }

  private(set) var files: [File] = []
  /// The files that can't be read, with the place of the fault.
  package private(set) var faults: [(path: String, error: SwiftSourceError)] = []
  /// The declared types by their full names; two of one name are both kept.
  private var types: [String: [SwiftDeclaration]] = [:]
  private var aliases: [String: [SwiftAlias]] = [:]
  /// The extensions by the names of the types that they extend.
  private var extensions: [String: [SwiftDeclaration]] = [:]

  /// Creates a source without files.
  package init() {}

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: Its bytes.
  ///   - path: Its path, for messages.
  package mutating func add(_ bytes: [UInt8], path: String) {
    do throws(SwiftSourceError) {
      let tokens = try SwiftTokens(bytes)
      let declarations = try SwiftDeclarationReader(tokens, file: files.count).declarations
      files.append(File(path: path, tokens: tokens))
      for declaration in declarations { add(declaration) }
    } catch {
      faults.append((path, error))
    }
  }

  private mutating func add(_ declaration: SwiftDeclaration) {
    let name = declaration.path.joined(separator: ".")
    for alias in declaration.aliases {
      aliases[(declaration.path + [alias.name]).joined(separator: "."), default: []].append(alias)
    }
    if declaration.kind == .extension {
      extensions[name, default: []].append(declaration)
    } else {
      types[name, default: []].append(declaration)
    }
  }

  /// All declared types, by their full names.
  var declarations: [SwiftDeclaration] {
    types.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.flatMap { types[$0] ?? [] }
  }

  /// Returns the tokens of the file in which something stands.
  func tokens(_ place: SwiftPlace) -> SwiftTokens { files[place.file].tokens }

  /// Returns true if a type has a protocol, by its declaration or an extension.
  func conforms(_ declaration: SwiftDeclaration, to protocols: Set<String>) -> Bool {
    let all = declaration.inherited + extensions(of: declaration.path).flatMap(\.inherited)
    return all.contains { if case .named(let names) = $0 { protocols.contains(names.last ?? "") } else { false } }
  }

  /// Returns the extensions of a type.
  func extensions(of path: [String]) -> [SwiftDeclaration] { extensions[path.joined(separator: ".")] ?? [] }

  /// Returns the functions that tell how a type is coded or made, of its declaration and its extensions.
  func functions(of path: [String]) -> Set<String> {
    let all = (types[path.joined(separator: ".")] ?? []) + extensions(of: path)
    return all.reduce(into: []) { $0.formUnion($1.functions) }
  }

  /// The meaning of a name.
  package enum Meaning {
    case type(SwiftDeclaration)
    case alias(SwiftTypeName, from: [String])
    /// Several declarations have the name.
    case ambiguous([SwiftDeclaration])
  }

  /// Finds what a name stands for: in the type where it is written first, then in those around it.
  ///
  /// - Parameters:
  ///   - names: The parts of the name.
  ///   - scope: The names of the types around the place.
  ///   - file: The position of the file of the place; without it, what is private in any file is found too.
  /// - Returns: `nil` for a type of another module.
  package func meaning(of names: [String], in scope: [String], file: Int? = nil) -> Meaning? {
    let (types, aliases) = candidates(for: names, in: SwiftScope(path: scope, head: 1, file: file))
    switch (types.count, aliases.count) {
    case (0, 0): return nil
    case (1, 0): return .type(types[0])
    case (0, 1): return .alias(aliases[0].type, from: aliases[0].scope.path)
    default: return .ambiguous(types)
    }
  }

  /// The declarations that a name can stand for.
  typealias Candidates = (types: [SwiftDeclaration], aliases: [SwiftAlias])

  private static let depthLimit = 16

  /// Finds all that a name can stand for; more than one where a condition or a second target decides.
  func candidates(for names: [String], in scope: SwiftScope, depth: Int = 0) -> Candidates {
    var result: Candidates = ([], [])
    guard depth < Self.depthLimit, !names.isEmpty else { return result }
    for length in stride(from: scope.path.count, through: 0, by: -1) where length >= scope.head || length == 0 {
      let around = Array(scope.path.prefix(length))
      let first = declared(around + names.prefix(1), file: scope.file)
      guard !first.types.isEmpty || !first.aliases.isEmpty else { continue }
      let isCertain = result.types.isEmpty && result.aliases.isEmpty && first.aliases.count < 2
      guard isCertain else { return (result.types + first.types, result.aliases + first.aliases) }
      // The first part decides; what it doesn't have isn't sought elsewhere.
      result = declared(around + names, file: scope.file)
      if names.count > 1, let alias = first.aliases.first, case .named(let target) = alias.type {
        let found = candidates(for: target + names.dropFirst(), in: alias.scope, depth: depth + 1)
        result = (result.types + found.types, result.aliases + found.aliases)
        guard !result.types.isEmpty || !result.aliases.isEmpty else { break }
      }
      // Where its condition doesn't hold, the name is sought further outwards.
      guard first.types.allSatisfy(\.isConditional), first.aliases.allSatisfy(\.isConditional) else { break }
    }
    return result
  }

  /// Returns what has a full name and is seen from a file.
  private func declared(_ path: [String], file: Int?) -> Candidates {
    let name = path.joined(separator: ".")
    return (
      (types[name] ?? []).filter { !$0.isPrivate || file == nil || $0.place.file == file },
      (aliases[name] ?? []).filter { !$0.isPrivate || file == nil || $0.scope.file == file }
    )
  }
}

extension SwiftDataSource {
  /// Returns the source with the extensions of aliases under the names of the types that they extend.
  func resolvingExtensions() -> SwiftDataSource {
    var result = SwiftDataSource()
    (result.files, result.faults) = (files, faults)
    for (_, found) in (Array(types) + Array(extensions)).sorted(by: { $0.key < $1.key }) {
      for declaration in found { result.add(resolving(declaration)) }
    }
    return result
  }

  /// Returns a declaration with the real path of the extension that it is, or stands in.
  func resolving(_ declaration: SwiftDeclaration) -> SwiftDeclaration {
    let head = declaration.scope.head
    let written = Array(declaration.path.prefix(head))
    guard head > 0, types[written.joined(separator: ".")] == nil else { return declaration }
    let top = SwiftScope(path: [], head: 0, file: nil)
    // A module may stand before the name.
    let first = candidates(for: [written[0]], in: top)
    let names = first.types.isEmpty && first.aliases.isEmpty ? Array(written.dropFirst()) : written
    guard case .declared(let extended) = type(.named(names), in: top) else { return declaration }
    var result = declaration
    result.path = extended.path + declaration.path.dropFirst(head)
    result.head = extended.path.count
    for index in result.aliases.indices {
      let scope = SwiftScope(path: result.path, head: result.head, file: declaration.place.file)
      result.aliases[index].scope = scope
    }
    return result
  }
}
