package indirect enum SwiftTypeName: Hashable, Sendable {
  /// With its qualifiers, such as `Schema.Version`.
  case named([String])
  case optional(SwiftTypeName)
  case array(SwiftTypeName)
  case dictionary(SwiftTypeName, SwiftTypeName)
  /// As source text: a function, a tuple, or a generic type that isn't the library's.
  case other(String)

  /// A name qualified by the library's module can't refer to another declaration.
  static func withoutLibrary(_ names: [String]) -> [String] {
    names.count > 1 && ["Swift", "Foundation"].contains(names[0]) ? Array(names.dropFirst()) : names
  }

  var names: [[String]] {
    switch self {
    case .named(let names): [names]
    case .optional(let inner), .array(let inner): inner.names
    case .dictionary(let key, let value): key.names + value.names
    case .other(let text):
      text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
        .map { $0.split(separator: ".").map(String.init) }.filter { !$0.isEmpty }
    }
  }
}

extension SwiftTypeName: CustomStringConvertible {
  package var description: String {
    switch self {
    case .named(let names): names.joined(separator: ".")
    case .optional(let wrapped): "\(wrapped)?"
    case .array(let element): "[\(element)]"
    case .dictionary(let key, let value): "[\(key): \(value)]"
    case .other(let text): text
    }
  }
}

struct SwiftTypeReader {
  private let source: SwiftTokens
  private(set) var position: Int

  private static let depthLimit = 32
  private static let partLimit = 64

  init(_ source: SwiftTokens, at position: Int) {
    (self.source, self.position) = (source, position)
  }

  /// Advances past the type; `nil` if there is none.
  mutating func type() -> SwiftTypeName? { type(depth: 0) }

  private mutating func type(depth: Int) -> SwiftTypeName? {
    guard depth < Self.depthLimit else { return nil }
    let start = position
    skipAttributes()
    let isMarked = position > start
    guard var result = simpleType(depth: depth) else { return nil }
    var otherEnd: Int?
    if isMarked, case .other = result { otherEnd = position }
    var optionals = 0
    while true {
      if source.has("?", at: position), !source.tokens[position].followsSpace {
        optionals += 1
        position += 1
        continue
      } else if source.has("!", at: position), !source.tokens[position].followsSpace {
        position += 1
      } else if source.has("&", at: position) {
        position += 1
        guard simpleType(depth: depth) != nil else { return nil }
      } else if source.has(".", at: position), ["Type", "Protocol"].contains(source.text(position + 1)) {
        position += 2
      } else {
        break
      }
      (otherEnd, optionals) = (position, 0)
    }
    // The text is built once: building it after each `?` or `!` would take quadratic time.
    if let otherEnd { result = .other(source.text(start..<otherEnd)) }
    if depth + optionals > Self.depthLimit {
      result = .other(source.text(start..<position))
    } else {
      for _ in 0..<optionals { result = .optional(result) }
    }
    let effects = position
    while source.has("async", at: position) || source.has("throws", at: position) {
      position += 1
      if source.has("(", at: position) { position = source.next(position) }
    }
    guard position < source.count, source.tokens[position].kind == .arrow else {
      position = effects
      return result
    }
    position += 1
    guard type(depth: depth + 1) != nil else { return nil }
    return .other(source.text(start..<position))
  }

  private mutating func skipAttributes() {
    while position < source.count {
      if source.has("@", at: position) {
        position += 2
        if source.has("(", at: position), !source.tokens[position].followsSpace { position = source.next(position) }
      } else if source.has("any", at: position) || source.has("some", at: position)
        || source.has("inout", at: position),
        source.isWord(at: position + 1)
      {
        position += 1
      } else {
        return
      }
    }
  }

  private mutating func simpleType(depth: Int) -> SwiftTypeName? {
    guard position < source.count else { return nil }
    let start = position
    if source.has("[", at: position) {
      let end = source.partner(position)
      position += 1
      guard let first = type(depth: depth + 1) else { return nil }
      defer { position = end + 1 }
      if position == end { return .array(first) }
      guard source.has(":", at: position) else { return .other(source.text(start..<end + 1)) }
      position += 1
      guard let value = type(depth: depth + 1), position == end else { return .other(source.text(start..<end + 1)) }
      return .dictionary(first, value)
    }
    if source.has("(", at: position) {
      let end = source.partner(position)
      position += 1
      let inner = type(depth: depth + 1)
      let isSingle = position == end
      position = end + 1
      if isSingle, let inner { return inner }
      return .other(source.text(start..<end + 1))
    }
    if source.has("~", at: position) {
      position += 1
      guard name(depth: depth) != nil else { return nil }
      return .other(source.text(start..<position))
    }
    return name(depth: depth)
  }

  private mutating func name(depth: Int) -> SwiftTypeName? {
    guard source.isWord(at: position) else { return nil }
    let start = position
    var names: [String] = []
    var arguments: [SwiftTypeName] = []
    var isGeneric = false
    while source.isWord(at: position) {
      names.append(source.text(position))
      position += 1
      if source.has("<", at: position) {
        isGeneric = true
        guard let read = genericArguments(depth: depth) else { return nil }
        arguments = read
      }
      guard source.has(".", at: position), source.isWord(at: position + 1) else { break }
      if ["self", "Type", "Protocol"].contains(source.text(position + 1)) { break }
      position += 1
    }
    if names.count > 1, names[0] == "SwiftData" { names.removeFirst() }
    guard names.count <= Self.partLimit else { return .other(source.text(start..<position)) }
    guard isGeneric else { return .named(names) }
    switch (SwiftTypeName.withoutLibrary(names), arguments.count) {
    case (["Optional"], 1): return .optional(arguments[0])
    case (["Array"], 1): return .array(arguments[0])
    case (["Dictionary"], 2): return .dictionary(arguments[0], arguments[1])
    default: return .other(source.text(start..<position))
    }
  }

  private mutating func genericArguments(depth: Int) -> [SwiftTypeName]? {
    var result: [SwiftTypeName] = []
    position += 1
    while !source.has(">", at: position) {
      guard let argument = type(depth: depth + 1) else { return nil }
      result.append(argument)
      if source.has(",", at: position) { position += 1 } else if !source.has(">", at: position) { return nil }
    }
    position += 1
    return result
  }
}
