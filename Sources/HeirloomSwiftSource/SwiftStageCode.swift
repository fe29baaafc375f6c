/// The code of a part of a stage: its closure, and the functions to which it hands its context.
struct SwiftStageCode {
  /// A piece of the code.
  struct Piece {
    /// The position of the file.
    let file: Int
    let body: Range<Int>
    /// The names of the types around it.
    let scope: [String]
    /// The name of the function; `nil` for a closure.
    let function: String?
    /// The name by which it has the context; `nil` if it has none.
    let context: String?
  }

  private(set) var pieces: [Piece] = []
  /// What has the context, or is the whole part, and can't be followed, by its text.
  private(set) var unread: [(text: String, place: SwiftPlace)] = []

  private let source: SwiftDataSource

  /// The most functions that are followed from one part.
  private static let limit = 50

  /// Finds the code.
  ///
  /// - Parameters:
  ///   - code: The tokens of a closure, or of a function's name.
  ///   - file: The position of the file.
  ///   - scope: The names of the types around it.
  ///   - source: The declarations.
  init(_ code: Range<Int>, file: Int, in scope: [String], of source: SwiftDataSource) {
    self.source = source
    let tokens = source.files[file].tokens
    let first = code.lowerBound
    guard tokens.has("{", at: first) else {
      let place = SwiftPlace(file: file, line: tokens.line(first))
      follow(tokens.path(code), tokens.text(code), place, from: scope)
      return
    }
    let body = tokens.inside(first)
    // `{ context in`, `{ (context: ModelContext) in` or `{ $0.…`
    let isNamed = tokens.isWord(at: body.lowerBound) && tokens.has("in", at: body.lowerBound + 1)
    let name = tokens.text(isNamed ? body.lowerBound : body.lowerBound + 1)
    let hasHead = isNamed || tokens.has("(", at: body.lowerBound)
    add(Piece(file: file, body: body, scope: scope, function: nil, context: hasHead ? name : "$0"))
  }

  private mutating func add(_ piece: Piece) {
    let isKnown = pieces.contains { $0.file == piece.file && $0.body == piece.body }
    guard pieces.count < Self.limit, !isKnown else { return }
    pieces.append(piece)
    guard let context = piece.context else { return }
    let tokens = source.files[piece.file].tokens
    // Calls that are open; a brace is a call of nobody.
    var (index, open): (Int, [(name: Range<Int>, end: Int)]) = (piece.body.lowerBound, [])
    while index < piece.body.upperBound {
      open.removeAll { $0.end <= index }
      if context == "$0", tokens.has("{", at: index) {
        // In a closure within it, the word means something else.
        index = tokens.next(index)
        continue
      }
      if tokens.has("(", at: index) { open.append((callee(before: index, tokens), tokens.partner(index))) }
      if let call = open.last, tokens.isWord(at: index), tokens.text(index) == context, !call.name.isEmpty,
        !tokens.has(".", at: index - 1), tokens.has(",", at: index + 1) || index + 1 == call.end
      {
        let place = SwiftPlace(file: piece.file, line: tokens.line(call.name.lowerBound))
        follow(tokens.path(call.name), tokens.text(call.name), place, from: piece.scope)
      }
      index += 1
    }
  }

  /// Returns the tokens of the names before an opening parenthesis.
  private func callee(before opening: Int, _ tokens: SwiftTokens) -> Range<Int> {
    var start = opening
    while tokens.isWord(at: start - 1), start == opening || tokens.has(".", at: start) {
      start -= 1
      if tokens.has(".", at: start - 1) { start -= 1 }
    }
    return start..<opening
  }

  // MARK: - Functions

  /// Adds the body of the one function that a name stands for, or notes that it isn't read.
  private mutating func follow(_ names: [String]?, _ text: String, _ place: SwiftPlace, from scope: [String]) {
    let found = names.map { functions($0, from: scope) } ?? []
    guard found.count == 1 else {
      if !unread.contains(where: { $0.text == text }) { unread.append((text, place)) }
      return
    }
    add(found[0])
  }

  /// Finds the functions that a name can stand for.
  private func functions(_ names: [String], from scope: [String]) -> [Piece] {
    guard let name = names.last else { return [] }
    let base = Array(names.dropLast())
    let owners: [[String]] =
      if base.isEmpty {
        (0...scope.count).map { Array(scope.prefix($0)) }
      } else if base == ["Self"] || base == ["self"] {
        [scope]
      } else {
        source.declaration(of: base, in: scope).map { [$0.path] } ?? []
      }
    var result: [Piece] = []
    for (file, read) in source.files.enumerated() {
      let tokens = read.tokens
      for index in 0..<tokens.count where tokens.has("func", at: index) && tokens.text(index + 1) == name {
        let path = source.path(around: index, in: file)
        guard owners.contains(path) else { continue }
        guard let parts = parts(of: index, tokens) else { continue }
        result.append(Piece(file: file, body: parts.body, scope: path, function: name, context: parts.context))
      }
    }
    return result
  }

  /// Returns the body of a function, and the name of its parameter that is a context.
  private func parts(of function: Int, _ tokens: SwiftTokens) -> (body: Range<Int>, context: String?)? {
    var index = function + 2
    while index < tokens.count, !tokens.has("(", at: index) { index += 1 }
    guard index < tokens.count else { return nil }
    let parameters = tokens.inside(index)
    let type = parameters.first { tokens.has("ModelContext", at: $0) && tokens.has(":", at: $0 - 1) }
    index = tokens.next(index)
    while index < tokens.count, !tokens.has("{", at: index) {
      // What a protocol requires has no body.
      if ["func", "var", "let", "init"].contains(tokens.text(index)) { return nil }
      index = tokens.next(index)
    }
    guard index < tokens.count else { return nil }
    return (tokens.inside(index), type.map { tokens.text($0 - 2) })
  }
}
