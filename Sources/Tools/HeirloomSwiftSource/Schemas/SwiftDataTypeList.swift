/// A list of types in source: `[A.self, B.self]`, concatenated lists, and references to lists
/// declared elsewhere.
struct SwiftDataTypeList {
  struct Item {
    let names: [String]
    let scope: [String]
    /// `nil` for a name that the user gives.
    let place: SwiftPlace?
  }

  private(set) var items: [Item] = []
  private(set) var unread: [(text: String, place: SwiftPlace)] = []

  private let source: SwiftDataSource

  private static let depthLimit = 16
  /// For expressions in one list; nested lists can be very many.
  private static let limit = 10_000
  private var count = 0

  /// `range` is an expression, or the body of a getter.
  init(_ range: Range<Int>, file: Int, in scope: [String], of source: SwiftDataSource) {
    self.source = source
    read(range, file, scope, depth: 0)
  }

  private mutating func read(_ range: Range<Int>, _ file: Int, _ scope: [String], depth: Int) {
    let tokens = source.files[file].tokens
    let range = tokens.value(of: range)
    let parts = tokens.parts(range) { tokens.has("+", at: $0) }
    count += 1
    guard count <= Self.limit else {
      if count == Self.limit + 1 { leave(range, file) }
      return
    }
    guard depth < Self.depthLimit, !parts.isEmpty else { return leave(range, file) }
    guard parts.count == 1 else {
      for part in parts { read(part, file, scope, depth: depth + 1) }
      return
    }
    let first = range.lowerBound
    if tokens.has("[", at: first), tokens.partner(first) == range.upperBound - 1 {
      for item in tokens.items(tokens.inside(first)) { read(item, file, scope, depth: depth + 1) }
      return
    }
    guard var names = tokens.path(range) else { return leave(range, file) }
    if names.last == "self", names.count > 1 {
      items.append(
        Item(names: names.dropLast(), scope: scope, place: SwiftPlace(file: file, line: tokens.line(first))))
      return
    }
    let name = names.removeLast()
    guard let (property, path) = source.sharedProperty(name, of: names, from: scope),
      let value = property.body ?? property.initialValue
    else { return leave(range, file) }
    read(value, property.place.file, path, depth: depth + 1)
  }

  private mutating func leave(_ range: Range<Int>, _ file: Int) {
    let tokens = source.files[file].tokens
    unread.append((tokens.excerpt(range), SwiftPlace(file: file, line: tokens.line(range.lowerBound))))
  }
}
