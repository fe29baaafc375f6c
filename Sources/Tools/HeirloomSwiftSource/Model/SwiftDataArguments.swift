import HeirloomModel

/// The arguments of `@Attribute` or `@Relationship`.
struct SwiftDataArguments {
  private(set) var options: [String] = []
  private(set) var transformer: String?
  /// Source of the option that names the transformer.
  private(set) var transformerText: String?
  private(set) var originalName: String?
  private(set) var hashModifier: String?
  private(set) var deleteRule: DeleteRule?
  private(set) var inverse: SwiftDataKeyPath?
  private(set) var unread: String?

  init(_ attribute: SwiftAttribute, _ tokens: SwiftTokens) {
    for item in tokens.items(attribute.arguments) {
      let isLabelled = tokens.isWord(at: item.lowerBound) && tokens.has(":", at: item.lowerBound + 1) && item.count > 2
      let value = isLabelled ? item.lowerBound + 2..<item.upperBound : item
      if !read(isLabelled ? tokens.text(item.lowerBound) : "", value, tokens), unread == nil {
        unread = tokens.text(item)
      }
    }
  }

  private mutating func read(_ label: String, _ value: Range<Int>, _ tokens: SwiftTokens) -> Bool {
    let first = value.lowerBound
    let isMember = tokens.has(".", at: first) && tokens.isWord(at: first + 1)
    switch label {
    case "" where isMember && value.count == 2: options.append(tokens.text(first + 1))
    case "" where isMember && tokens.has("transformable", at: first + 1) && tokens.has("(", at: first + 2):
      // `.transformable(by: Transformer.self)`, or with the transformer's name in quotes.
      let items = tokens.items(tokens.inside(first + 2)).map(tokens.labelled)
      guard items.count == 1, items[0].label == "by" else { return false }
      var reader = SwiftTypeReader(tokens, at: items[0].value.lowerBound)
      guard let text = tokens.plainString(items[0].value.lowerBound) ?? reader.type()?.description else { return false }
      (transformer, transformerText) = (text, tokens.text(value))
    case "originalName":
      guard value.count == 1, let name = tokens.plainString(first) else { return false }
      originalName = name
    case "hashModifier":
      guard value.count == 1, let modifier = tokens.plainString(first) else { return false }
      hashModifier = modifier
    case "deleteRule" where value.count == 2 || tokens.has("DeleteRule", at: value.upperBound - 3):
      switch tokens.text(value.upperBound - 1) {
      case "nullify": deleteRule = .nullify
      case "cascade": deleteRule = .cascade
      case "deny": deleteRule = .deny
      case "noAction": deleteRule = .noAction
      default: return false
      }
    case "inverse":
      if value.count == 1, tokens.has("nil", at: first) { return true }
      guard let path = SwiftDataKeyPath(value, tokens) else { return false }
      inverse = path
    default: return false
    }
    return true
  }
}

/// Such as `\Trip.stops`.
struct SwiftDataKeyPath {
  /// Before the last name: the class, if it is given.
  let root: [String]
  let name: String

  init?(_ range: Range<Int>, _ tokens: SwiftTokens) {
    guard tokens.has("\\", at: range.lowerBound), range.count >= 3 else { return nil }
    // Names alternate with dots, and a dot may come first.
    let first = range.lowerBound + (tokens.has(".", at: range.lowerBound + 1) ? 2 : 1)
    var names: [String] = []
    for index in first..<range.upperBound {
      if (index - first).isMultiple(of: 2) {
        guard tokens.isWord(at: index) else { return nil }
        names.append(tokens.text(index))
      } else if !tokens.has(".", at: index) {
        return nil
      }
    }
    guard let last = names.popLast(), tokens.isWord(at: range.upperBound - 1) else { return nil }
    (root, name) = (names, last)
  }

  /// Such as `[\.a, \.b]`; `nil` for anything else.
  static func list(_ range: Range<Int>, _ tokens: SwiftTokens) -> [SwiftDataKeyPath]? {
    var first = range.lowerBound
    if tokens.has(".", at: first), tokens.has("binary", at: first + 1), tokens.has("(", at: first + 2) { first += 3 }
    guard tokens.has("[", at: first) else { return nil }
    var paths: [SwiftDataKeyPath] = []
    for item in tokens.items(tokens.inside(first)) {
      guard let path = SwiftDataKeyPath(item, tokens) else { return nil }
      paths.append(path)
    }
    return paths.isEmpty ? nil : paths
  }
}
