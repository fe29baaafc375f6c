/// The declarations of several Swift files, with Swift's name lookup.
package struct SwiftDataSource: Sendable {
  struct File: Sendable {
    let path: String
    let tokens: SwiftTokens
    let declarations: [SwiftDeclaration]
    let imports: Set<String>
    /// Type bodies in source order, each with the position of the enclosing one or -1.
    let bodies: [(range: Range<Int>, path: [String], outer: Int)]

    init(path: String, tokens: SwiftTokens, declarations: [SwiftDeclaration]) {
      (self.path, self.tokens, self.declarations, imports) = (path, tokens, declarations, tokens.imports)
      var bodies: [(range: Range<Int>, path: [String], outer: Int)] = []
      for declaration in declarations.sorted(by: { $0.body.lowerBound < $1.body.lowerBound }) {
        var outer = bodies.count - 1
        while outer >= 0, bodies[outer].range.upperBound <= declaration.body.lowerBound { outer = bodies[outer].outer }
        bodies.append((declaration.body, declaration.path, outer))
      }
      self.bodies = bodies
    }
  }

  private(set) var files: [File] = []
  package private(set) var faults: [(path: String, error: SwiftSourceError)] = []
  /// By full name; duplicates are kept.
  private var types: [String: [SwiftDeclaration]] = [:]
  private var aliases: [String: [SwiftAlias]] = [:]
  /// By the extended type's name; an empty name holds the top level.
  private var extensions: [String: [SwiftDeclaration]] = [:]
  private var hasResolvedExtensions = false
  /// A type's ancestors with members, by its full name; known once extensions are resolved.
  private var ancestors: [String: [[String]]] = [:]

  package init() {}

  package mutating func add(_ bytes: [UInt8], path: String) {
    hasResolvedExtensions = false
    do throws(SwiftSourceError) {
      let tokens = try SwiftTokens(bytes)
      let declarations = try SwiftDeclarationReader(tokens, file: files.count).declarations
      files.append(File(path: path, tokens: tokens, declarations: declarations))
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

  /// Types only, sorted by full name.
  var declarations: [SwiftDeclaration] {
    types.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.flatMap { types[$0] ?? [] }
  }

  package var modelNames: [String] {
    declarations.filter { $0.has("Model") && $0.kind != .extension }.map { $0.path.joined(separator: ".") }
  }

  func tokens(_ place: SwiftPlace) -> SwiftTokens { files[place.file].tokens }

  func conforms(_ declaration: SwiftDeclaration, to protocols: Set<String>) -> Bool {
    let all = declaration.inherited + extensions(of: declaration.path).flatMap(\.inherited)
    return all.contains { if case .named(let names) = $0 { protocols.contains(names.last ?? "") } else { false } }
  }

  func extensions(of path: [String]) -> [SwiftDeclaration] { extensions[path.joined(separator: ".")] ?? [] }

  func functions(of path: [String]) -> Set<String> {
    let all = (types[path.joined(separator: ".")] ?? []) + extensions(of: path)
    return all.reduce(into: []) { $0.formUnion($1.functions) }
  }

  func canFail(_ path: [String]) -> Bool {
    ([path] + (ancestors[path.joined(separator: ".")] ?? [])).contains { functions(of: $0).contains("init?") }
  }

  /// `owner` is the type written before the name; `nil` unless there is exactly one declaration.
  func sharedProperty(
    _ name: String, of owner: [String], from scope: [String]
  ) -> (property: SwiftProperty, path: [String])? {
    if owner.isEmpty {
      for length in stride(from: scope.count, through: 0, by: -1) {
        let path = Array(scope.prefix(length))
        if let property = sharedProperty(name, of: path) { return (property, path) }
      }
      return nil
    }
    let path = owner == ["Self"] ? scope : declaration(of: owner, in: scope)?.path
    return path.flatMap { path in sharedProperty(name, of: path).map { ($0, path) } }
  }

  private func sharedProperty(_ name: String, of path: [String]) -> SwiftProperty? {
    let full = path.joined(separator: ".")
    let found = ((types[full] ?? []) + (extensions[full] ?? [])).flatMap(\.properties).filter {
      $0.name == name && ($0.isStatic || path.isEmpty)
    }
    return found.count == 1 ? found[0] : nil
  }

  func path(around token: Int, in file: Int) -> [String] {
    // Bodies are nested or disjoint: the enclosing ones are the last one that begins before the
    // token, or around it.
    let bodies = files[file].bodies
    var (low, high) = (0, bodies.count)
    while low < high {
      let middle = (low + high) / 2
      if bodies[middle].range.lowerBound <= token { low = middle + 1 } else { high = middle }
    }
    var index = low - 1
    while index >= 0, !bodies[index].range.contains(token) { index = bodies[index].outer }
    return index < 0 ? [] : bodies[index].path
  }

  /// Such as `Models/Chat.swift:41`.
  package func text(_ place: SwiftPlace) -> String { "\(files[place.file].path):\(place.line)" }

  package enum Meaning {
    case type(SwiftDeclaration)
    case alias(SwiftTypeName, from: [String])
    case ambiguous([SwiftDeclaration])
  }

  /// Without a file, private declarations of any file are found too; `nil` for a type of another
  /// module.
  package func meaning(of names: [String], in scope: [String], file: Int? = nil) -> Meaning? {
    let (types, aliases) = candidates(for: names, in: SwiftScope(path: scope, head: 1, file: file))
    switch (types.count, aliases.count) {
    case (0, 0): return names.count > 1 ? meaning(ofTypeInModule: names) : nil
    case (1, 0): return .type(types[0])
    case (0, 1): return .alias(aliases[0].type, from: aliases[0].scope.path)
    default: return .ambiguous(types)
    }
  }

  /// An imported module may be a different one, unless the type's file is in a folder with the
  /// module's name.
  private func meaning(ofTypeInModule names: [String]) -> Meaning? {
    guard let found = types[names.dropFirst().joined(separator: ".")] else { return nil }
    let isForeign = files.contains { $0.imports.contains(names[0]) }
    let own = isForeign ? found.filter { "/\(files[$0.place.file].path)".contains("/\(names[0])/") } : found
    guard let first = own.first else { return nil }
    return own.count == 1 ? .type(first) : .ambiguous(own)
  }

  /// Through type aliases; `nil` where it isn't exactly one.
  package func declaration(of names: [String], in scope: [String]) -> SwiftDeclaration? {
    var (names, scope) = (names, scope)
    // A self-referential alias is invalid, but must not loop.
    for _ in 0..<16 {
      switch meaning(of: names, in: scope) {
      case .type(let found)?: return found
      case .alias(.named(let target), let from)?: (names, scope) = (target, from)
      default: return nil
      }
    }
    return nil
  }

  typealias Candidates = (types: [SwiftDeclaration], aliases: [SwiftAlias])

  private static let depthLimit = 16

  /// Conditions or several targets can make it more than one.
  func candidates(for names: [String], in scope: SwiftScope, depth: Int = 0) -> Candidates {
    var result: Candidates = ([], [])
    guard depth < Self.depthLimit, !names.isEmpty else { return result }
    for length in stride(from: scope.path.count, through: 0, by: -1) where length >= scope.head || length == 0 {
      var owners = [Array(scope.path.prefix(length))]
      var first = declared(names.prefix(1), in: owners, file: scope.file)
      let isInherited = first.types.isEmpty && first.aliases.isEmpty
      if isInherited {
        owners = ancestors[owners[0].joined(separator: ".")] ?? []
        first = declared(names.prefix(1), in: owners, file: scope.file)
      }
      guard !first.types.isEmpty || !first.aliases.isEmpty else { continue }
      let isCertain = result.types.isEmpty && result.aliases.isEmpty && first.aliases.count < 2
      guard isCertain else { return (result.types + first.types, result.aliases + first.aliases) }
      // The first component decides; a member that it lacks isn't looked up elsewhere.
      result = declared(names[...], in: owners, file: scope.file)
      if names.count > 1, let alias = first.aliases.first, case .named(let target) = alias.type {
        let found = candidates(for: target + names.dropFirst(), in: alias.scope, depth: depth + 1)
        result = (result.types + found.types, result.aliases + found.aliases)
        guard !result.types.isEmpty || !result.aliases.isEmpty else { break }
      }
      // A conditional declaration may be absent, so lookup continues outwards. It also continues
      // after an inherited member: if both exist, the meaning is uncertain.
      guard isInherited || first.types.allSatisfy(\.isConditional) && first.aliases.allSatisfy(\.isConditional) else {
        break
      }
    }
    return result
  }

  private func declared(_ names: ArraySlice<String>, in owners: [[String]], file: Int?) -> Candidates {
    var result: Candidates = ([], [])
    for owner in owners {
      let name = (owner + names).joined(separator: ".")
      result.types += (types[name] ?? []).filter { !$0.isPrivate || file == nil || $0.place.file == file }
      result.aliases += (aliases[name] ?? []).filter { !$0.isPrivate || file == nil || $0.scope.file == file }
    }
    return result
  }
}

extension SwiftDataSource {
  /// Extensions of aliases are stored under the names of the extended types.
  func resolvingExtensions() -> SwiftDataSource {
    guard !hasResolvedExtensions else { return self }
    var result = SwiftDataSource()
    (result.files, result.faults, result.hasResolvedExtensions) = (files, faults, true)
    for (_, found) in (Array(types) + Array(extensions)).sorted(by: { $0.key < $1.key }) {
      for declaration in found { result.add(resolving(declaration)) }
    }
    result.findAncestors()
    return result
  }

  private mutating func findAncestors() {
    for (name, members) in SwiftAncestors.associated where types[name] == nil {
      let scope = SwiftScope(path: [name], head: 1, file: nil)
      for member in members {
        let type = SwiftTypeName.other("associatedtype")
        aliases["\(name).\(member)", default: []].append(
          SwiftAlias(name: member, type: type, scope: scope, isConditional: false, isPrivate: false))
      }
    }
    let members = Array(types.keys) + Array(aliases.keys)
    var holders = Set(members.map { $0.split(separator: ".").dropLast().joined(separator: ".") })
    for (name, found) in Array(types) + Array(extensions) where found.contains(where: { !$0.functions.isEmpty }) {
      holders.insert(name)
    }
    ancestors = SwiftAncestors(of: types, among: holders, in: self).paths
  }

  /// With the real path of the extension that the declaration is or is nested in.
  func resolving(_ declaration: SwiftDeclaration) -> SwiftDeclaration {
    let head = declaration.scope.head
    let written = Array(declaration.path.prefix(head))
    guard head > 0, types[written.joined(separator: ".")] == nil else { return declaration }
    let top = SwiftScope(path: [], head: 0, file: nil)
    // The name may be qualified by a module.
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
