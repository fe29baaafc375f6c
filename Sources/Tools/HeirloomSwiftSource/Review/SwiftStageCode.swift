/// The code of one part of a stage: its closure, and the functions that get its context.
struct SwiftStageCode {
  struct Piece {
    let file: Int
    let body: Range<Int>
    /// The types around it.
    let scope: [String]
    let function: String?
    let context: String?
  }

  private(set) var pieces: [Piece] = []
  /// Calls with the context, and functions given as a whole part, that can't be followed.
  private(set) var unread: [(text: String, place: SwiftPlace)] = []

  private var unreadTexts: Set<String> = []

  private let source: SwiftDataSource
  /// Functions of all files by name; `nil` until the first lookup.
  private var declared: [String: [(file: Int, index: Int)]]?

  private static let limit = 50

  /// `code` is a closure, or a function's name.
  init(_ code: Range<Int>, file: Int, in scope: [String], of source: SwiftDataSource) {
    self.source = source
    let tokens = source.files[file].tokens
    let first = code.lowerBound
    guard tokens.has("{", at: first) else {
      let place = SwiftPlace(file: file, line: tokens.line(first))
      follow(tokens.path(code), tokens.excerpt(code), place, from: scope)
      return
    }
    let body = tokens.inside(first)
    // `{ context in`, `{ [plan] context in`, `{ (context: ModelContext) in` or `{ $0.…`
    let head = tokens.has("[", at: body.lowerBound) ? tokens.next(body.lowerBound) : body.lowerBound
    let isNamed = tokens.isWord(at: head) && tokens.has("in", at: head + 1)
    let name = tokens.text(isNamed ? head : head + 1)
    let hasHead = isNamed || tokens.has("(", at: head)
    add(Piece(file: file, body: body, scope: scope, function: nil, context: hasHead ? name : "$0"))
  }

  private mutating func add(_ piece: Piece) {
    guard !pieces.contains(where: { $0.file == piece.file && $0.body == piece.body }) else { return }
    pieces.append(piece)
    guard let context = piece.context else { return }
    let tokens = source.files[piece.file].tokens
    // The calls around the current token, the innermost last.
    var (index, open): (Int, [(name: Range<Int>, end: Int)]) = (piece.body.lowerBound, [])
    while index < piece.body.upperBound {
      while let last = open.last, last.end <= index { open.removeLast() }
      if context == "$0", tokens.has("{", at: index) {
        // In a nested closure, `$0` means something else.
        index = tokens.next(index)
        continue
      }
      if tokens.has("(", at: index) { open.append((callee(before: index, tokens), tokens.partner(index))) }
      if let call = open.last, tokens.isWord(at: index), tokens.text(index) == context, !call.name.isEmpty,
        !tokens.has(".", at: index - 1), tokens.has(",", at: index + 1) || index + 1 == call.end
      {
        let place = SwiftPlace(file: piece.file, line: tokens.line(call.name.lowerBound))
        follow(tokens.path(call.name), tokens.excerpt(call.name), place, from: piece.scope)
      }
      index += 1
    }
  }

  private func callee(before opening: Int, _ tokens: SwiftTokens) -> Range<Int> {
    var start = opening
    while tokens.isWord(at: start - 1), start == opening || tokens.has(".", at: start) {
      start -= 1
      if tokens.has(".", at: start - 1) { start -= 1 }
    }
    return start..<opening
  }

  /// Adds the function that the names refer to, or records that it can't be read.
  private mutating func follow(_ names: [String]?, _ text: String, _ place: SwiftPlace, from scope: [String]) {
    let found = names.map { functions($0, from: scope) } ?? []
    // A function without a recognized context parameter is read, but not the functions it calls.
    if found.count != 1 || found[0].context == nil || pieces.count >= Self.limit {
      if unreadTexts.insert(text).inserted { unread.append((text, place)) }
    }
    if found.count == 1, pieces.count < Self.limit { add(found[0]) }
  }

  private mutating func functions(_ names: [String], from scope: [String]) -> [Piece] {
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
    for (file, index) in allFunctions()[name] ?? [] {
      let path = source.path(around: index, in: file)
      guard owners.contains(path), let parts = parts(of: index, source.files[file].tokens) else { continue }
      result.append(Piece(file: file, body: parts.body, scope: path, function: name, context: parts.context))
    }
    return result
  }

  private mutating func allFunctions() -> [String: [(file: Int, index: Int)]] {
    if let declared { return declared }
    var result: [String: [(file: Int, index: Int)]] = [:]
    for (file, read) in source.files.enumerated() {
      for index in 0..<read.tokens.count where read.tokens.has("func", at: index) {
        result[read.tokens.text(index + 1), default: []].append((file, index))
      }
    }
    declared = result
    return result
  }

  private func parts(of function: Int, _ tokens: SwiftTokens) -> (body: Range<Int>, context: String?)? {
    var index = function + 2
    while index < tokens.count, !tokens.has("(", at: index) { index += 1 }
    guard index < tokens.count else { return nil }
    let parameter = tokens.items(tokens.inside(index)).first { $0.contains { tokens.has("ModelContext", at: $0) } }
    let colon = parameter?.first { tokens.has(":", at: $0) }
    index = tokens.next(index)
    while index < tokens.count, !tokens.has("{", at: index) {
      // A protocol requirement has no body.
      if ["func", "var", "let", "init"].contains(tokens.text(index)) { return nil }
      index = tokens.next(index)
    }
    guard index < tokens.count else { return nil }
    return (tokens.inside(index), colon.map { tokens.text($0 - 1) })
  }
}
