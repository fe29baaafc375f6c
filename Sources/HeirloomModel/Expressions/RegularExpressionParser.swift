struct RegularExpressionParser {
  private static let depthLimit = 64
  private static let countLimit = 1000

  private let pattern: String
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0
  private var flags: Flags

  private struct Flags {
    var ignoresCase = false
    var dotTakesLineEnds = false
    var anchorsAtLines = false
  }

  init(_ pattern: String, isCaseInsensitive: Bool) throws(EvaluationError) {
    self.pattern = pattern
    guard pattern.utf8.count <= RegularExpression.lengthLimit * 4 else {
      throw .invalidPattern(pattern: String(pattern.prefix(40)), reason: "it is too long")
    }
    scalars = Array(pattern.unicodeScalars)
    flags = Flags(ignoresCase: isCaseInsensitive)
  }

  mutating func parse() throws(EvaluationError) -> RegularExpressionNode {
    let node = try alternatives()
    guard position == scalars.count else { throw invalid("a closing parenthesis has no opening one") }
    return node
  }

  private func invalid(_ reason: String) -> EvaluationError {
    .invalidPattern(pattern: pattern, reason: reason + " (character \(position + 1))")
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func skip(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func take() throws(EvaluationError) -> Unicode.Scalar {
    guard let scalar = next else { throw invalid("it ends too early") }
    position += 1
    return scalar
  }

  // MARK: - Structure

  private mutating func alternatives() throws(EvaluationError) -> RegularExpressionNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { throw invalid("groups are nested too deeply") }
    // Flags that are set in a group end with it.
    let outer = flags
    defer { flags = outer }
    var nodes = [try sequence()]
    while skip("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
  }

  private mutating func sequence() throws(EvaluationError) -> RegularExpressionNode {
    var nodes: [RegularExpressionNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      if skip("\\Q") {
        while position < scalars.count, !skip("\\E") { nodes.append(.set(single(try take()))) }
        continue
      }
      guard let node = try element() else { continue }
      nodes.append(try repeated(node))
    }
    return .sequence(nodes)
  }

  /// `nil` for flags and comments.
  private mutating func element() throws(EvaluationError) -> RegularExpressionNode? {
    let scalar = try take()
    switch scalar {
    case "(": return try group()
    case "[": return .set(try bracketed())
    case ".": return .set(RegularExpressionSet(parts: [flags.dotTakesLineEnds ? .anything : .notLineEnds]))
    case "^": return .assertion(flags.anchorsAtLines ? .lineStart : .start)
    case "$": return .assertion(flags.anchorsAtLines ? .lineEnd : .lastLineEnd)
    case "*", "+", "?": throw invalid("a quantifier has nothing to repeat")
    case "{": throw invalid("a brace needs a backslash where it is not a quantifier")
    case "\\": return try escaped()
    default: return .set(single(scalar))
    }
  }

  private func single(_ scalar: Unicode.Scalar) -> RegularExpressionSet {
    RegularExpressionSet(parts: [.range(scalar.value...scalar.value)], isCaseInsensitive: flags.ignoresCase)
  }

  private mutating func group() throws(EvaluationError) -> RegularExpressionNode? {
    let outer = flags
    if skip("?") {
      if skip("#") {
        while try take() != ")" {}
        return nil
      }
      if skip("<"), next != "=", next != "!" {
        while try take() != ">" {}
      } else {
        guard try setFlags() else { return nil }
      }
    }
    let node = try alternatives()
    flags = outer
    guard skip(")") else { throw invalid("a parenthesis is not closed") }
    return node
  }

  /// Returns false if `)` ends the group after its flags.
  private mutating func setFlags() throws(EvaluationError) -> Bool {
    var isOn = true
    while true {
      switch try take() {
      case ":": return true
      case ")": return false
      case "-": isOn = false
      case "i": flags.ignoresCase = isOn
      case "s": flags.dotTakesLineEnds = isOn
      case "m": flags.anchorsAtLines = isOn
      case "w", "u": break
      default: throw invalid("look-around and this kind of group are not supported")
      }
    }
  }

  private mutating func repeated(_ node: RegularExpressionNode) throws(EvaluationError) -> RegularExpressionNode {
    var node = node
    while let scalar = next {
      var minimum = 0
      var maximum: Int?
      switch scalar {
      case "*": position += 1
      case "+":
        position += 1
        minimum = 1
      case "?":
        position += 1
        maximum = 1
      case "{":
        position += 1
        (minimum, maximum) = try counts()
      default: return node
      }
      guard next != "+" else { throw invalid("possessive quantifiers are not supported") }
      // Lazy and greedy quantifiers are equivalent in a match of the whole text.
      _ = skip("?")
      node = .repetition(node, minimum: minimum, maximum: maximum)
    }
    return node
  }

  private mutating func counts() throws(EvaluationError) -> (Int, Int?) {
    let minimum = try count()
    if skip("}") { return (minimum, minimum) }
    guard skip(",") else { throw invalid("expected a comma or a closing brace") }
    if skip("}") { return (minimum, nil) }
    let maximum = try count()
    guard maximum >= minimum, skip("}") else { throw invalid("a quantifier's bounds are wrong") }
    return (minimum, maximum)
  }

  private mutating func count() throws(EvaluationError) -> Int {
    var digits = ""
    while let scalar = next, ("0"..."9").contains(scalar), digits.utf8.count < 5 {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard let count = Int(digits), count <= Self.countLimit else {
      throw invalid("a quantifier needs a number up to \(Self.countLimit)")
    }
    return count
  }

  // MARK: - Escapes

  private mutating func escaped() throws(EvaluationError) -> RegularExpressionNode {
    switch next {
    case "A": return try assertion(.start)
    case "z": return try assertion(.end)
    case "Z": return try assertion(.lastLineEnd)
    case "b": return try assertion(.wordBoundary)
    case "B": return try assertion(.noWordBoundary)
    default: break
    }
    if let part = try classEscape() { return .set(RegularExpressionSet(parts: [part])) }
    return .set(single(try characterEscape()))
  }

  private mutating func assertion(_ assertion: RegularExpressionAssertion) throws(EvaluationError)
    -> RegularExpressionNode
  {
    position += 1
    return .assertion(assertion)
  }

  private mutating func classEscape() throws(EvaluationError) -> RegularExpressionSet.Part? {
    let part: RegularExpressionSet.Part
    switch next {
    case "d": part = .digits
    case "D": part = .inverse(.digits)
    case "w": part = .words
    case "W": part = .inverse(.words)
    case "s": part = .spaces
    case "S": part = .inverse(.spaces)
    case "p", "P":
      let isInverse = try take() == "P"
      guard skip("{") else { throw invalid("expected a category, such as \\p{L}") }
      var name = ""
      while let scalar = next, scalar != "}", name.utf8.count < 4 {
        name.unicodeScalars.append(scalar)
        position += 1
      }
      guard skip("}"), 1...2 ~= name.utf8.count, "LMNPSZC".contains(name.prefix(1)) else {
        throw invalid("only general categories such as \\p{L} and \\p{Lu} are supported")
      }
      return isInverse ? .inverse(.category(name)) : .category(name)
    default: return nil
    }
    position += 1
    return part
  }

  private mutating func characterEscape() throws(EvaluationError) -> Unicode.Scalar {
    let scalar = try take()
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "f": return "\u{c}"
    case "a": return "\u{7}"
    case "e": return "\u{1b}"
    case "x":
      if skip("{") {
        let scalar = try hexadecimal(1...6)
        guard skip("}") else { throw invalid("expected a closing brace") }
        return scalar
      }
      return try hexadecimal(2...2)
    case "u": return try hexadecimal(4...4)
    case "U": return try hexadecimal(8...8)
    case "a"..."z", "A"..."Z", "0"..."9": throw invalid("the escape \\\(scalar) is not supported")
    default: return scalar
    }
  }

  private mutating func hexadecimal(_ length: ClosedRange<Int>) throws(EvaluationError) -> Unicode.Scalar {
    var digits = ""
    while digits.utf8.count < length.upperBound, let scalar = next, scalar.properties.isASCIIHexDigit {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard length.contains(digits.utf8.count), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
    else { throw invalid("expected the hexadecimal number of a character") }
    return scalar
  }

  // MARK: - Sets

  private mutating func bracketed() throws(EvaluationError) -> RegularExpressionSet {
    var set = RegularExpressionSet(parts: [], isCaseInsensitive: flags.ignoresCase)
    set.isInverse = skip("^")
    while true {
      let scalar = try take()
      switch scalar {
      // An initial closing bracket is literal.
      case "]" where !set.parts.isEmpty: return set
      case "[": throw invalid("a set inside a set is not supported; write \\[ for the character")
      case "&" where next == "&": throw invalid("the intersection of sets is not supported")
      default:
        position -= 1
        set.parts.append(try setPart())
      }
    }
  }

  private mutating func setPart() throws(EvaluationError) -> RegularExpressionSet.Part {
    var first = try take()
    if first == "\\" {
      if let part = try classEscape() { return part }
      first = try characterEscape()
    }
    // A hyphen before the closing bracket is literal.
    guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
      return .range(first.value...first.value)
    }
    position += 1
    guard next != "[" else { throw invalid("the difference of sets is not supported") }
    var last = try take()
    if last == "\\" { last = try characterEscape() }
    guard first.value <= last.value else { throw invalid("a range in a set runs backwards") }
    return .range(first.value...last.value)
  }
}
