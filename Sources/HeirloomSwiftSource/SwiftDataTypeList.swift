/// A list of types as source writes it: `[A.self, B.self]`, sums of lists, and names of lists that stand elsewhere.
struct SwiftDataTypeList {
  /// A type of the list, to be found from where it is written.
  struct Item {
    let names: [String]
    let scope: [String]
    /// The place; `nil` for a name that somebody gives.
    let place: SwiftPlace?
  }

  /// The types that are written out.
  private(set) var items: [Item] = []
  /// The parts that nobody but the compiler understands, by their text.
  private(set) var unread: [(text: String, place: SwiftPlace)] = []

  private let source: SwiftDataSource

  private static let depthLimit = 16
  /// The most expressions of one list; lists of lists of lists can be very many.
  private static let limit = 10_000
  private var count = 0

  /// Reads a list.
  ///
  /// - Parameters:
  ///   - range: The tokens of the expression, or of a getter's body.
  ///   - file: The position of the file.
  ///   - scope: The names of the types around it.
  ///   - source: The declarations.
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
      // An empty list holds nothing.
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
