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
  private var aliases: [String: SwiftTypeName] = [:]
  /// The protocols that extensions add.
  private var conformances: [String: [SwiftTypeName]] = [:]

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
    for (alias, type) in declaration.aliases { aliases[(declaration.path + [alias]).joined(separator: ".")] = type }
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
    let all = declaration.inherited + (conformances[declaration.path.joined(separator: ".")] ?? [])
    return all.contains { if case .named(let names) = $0 { protocols.contains(names.last ?? "") } else { false } }
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
  /// - Returns: `nil` for a type of another module.
  package func meaning(of names: [String], in scope: [String]) -> Meaning? {
    for length in stride(from: scope.count, through: 0, by: -1) {
      let around = Array(scope.prefix(length))
      let first = (around + names.prefix(1)).joined(separator: ".")
      guard types[first] != nil || aliases[first] != nil else { continue }
      // The first part decides; what it doesn't have isn't sought elsewhere.
      if names.count > 1, case .named(let target)? = aliases[first] {
        return meaning(of: target + names.dropFirst(), in: around)
      }
      let full = (around + names).joined(separator: ".")
      if let found = types[full] { return found.count == 1 ? .type(found[0]) : .ambiguous(found) }
      return aliases[full].map { .alias($0, from: around + names.dropLast()) }
    }
    return nil
  }
}
