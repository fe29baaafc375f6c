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
  /// The protocols that extensions add.
  private var conformances: [String: [SwiftTypeName]] = [:]
  /// The functions that tell how a type is coded or made, of its declaration and its extensions.
  private var functions: [String: Set<String>] = [:]

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
    functions[name, default: []].formUnion(declaration.functions)
    if declaration.kind == .extension {
      conformances[name, default: []] += declaration.inherited
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
    let all = declaration.inherited + addedConformances(declaration.path)
    return all.contains { if case .named(let names) = $0 { protocols.contains(names.last ?? "") } else { false } }
  }

  /// Returns the protocols that extensions add to a type.
  func addedConformances(_ path: [String]) -> [SwiftTypeName] { conformances[path.joined(separator: ".")] ?? [] }

  /// Returns the functions that tell how a type is coded or made, of its declaration and its extensions.
  func functions(of path: [String]) -> Set<String> { functions[path.joined(separator: ".")] ?? [] }

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
      if names.count == 1 || !first.types.isEmpty { result = declared(around + names, file: scope.file) }
      if names.count > 1, let alias = first.aliases.first, case .named(let target) = alias.type {
        let found = candidates(for: target + names.dropFirst(), in: alias.scope, depth: depth + 1)
        result = (result.types + found.types, result.aliases + found.aliases)
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
