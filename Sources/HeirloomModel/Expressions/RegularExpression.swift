/// A regular expression of `MATCHES`, which must fit a whole text.
///
/// The matcher follows all ways through the pattern side by side, so a match takes time in proportion to the text,
/// whatever the pattern. There is no backtracking that a pattern like `(a+)+b` could blow up. Features that would need
/// backtracking are refused: references to groups, look-around and possessive quantifiers.
/// Otherwise the syntax is that of ICU (`NSRegularExpression`).
struct RegularExpression {
  /// The most Unicode scalars that a pattern may have.
  static let lengthLimit: Int = 4096
  /// The most steps that a pattern may compile to, its repetitions written out.
  static let stepLimit: Int = 8192

  /// One step of the compiled pattern.
  enum Step {
    /// A step that takes one character of the set.
    case take(RegularExpressionSet)
    /// A step that goes on at both places.
    case split(Int, Int)
    /// A step that goes on elsewhere.
    case jump(Int)
    /// A step that goes on if the condition holds between two characters.
    case check(RegularExpressionAssertion)
    /// The end of the pattern.
    case finish
  }

  private let steps: [Step]

  /// Compiles a pattern.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - isCaseInsensitive: Whether it begins as if with `(?i)`.
  /// - Throws: ``EvaluationError/invalidPattern(pattern:reason:)``.
  init(_ pattern: String, isCaseInsensitive: Bool = false) throws(EvaluationError) {
    var parser = try RegularExpressionParser(pattern, isCaseInsensitive: isCaseInsensitive)
    var compiler = Compiler(pattern: pattern)
    try compiler.compile(parser.parse())
    steps = compiler.steps + [.finish]
  }

  /// Tells whether the whole text fits the pattern.
  ///
  /// - Complexity: O(*n* · *m*) for *n* characters and *m* steps.
  func matches(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var places = PlaceSet(count: steps.count)
    var next = PlaceSet(count: steps.count)
    follow(0, into: &places, at: 0, in: scalars)
    for (index, scalar) in scalars.enumerated() {
      if places.members.isEmpty { return false }
      next.removeAll()
      for place in places.members {
        if case .take(let set) = steps[place], set.contains(scalar) {
          follow(place + 1, into: &next, at: index + 1, in: scalars)
        }
      }
      swap(&places, &next)
    }
    return places.members.contains { if case .finish = steps[$0] { true } else { false } }
  }

  /// Adds a place and all that can be reached from it without taking a character.
  private func follow(_ start: Int, into places: inout PlaceSet, at index: Int, in scalars: [Unicode.Scalar]) {
    var open = [start]
    while let place = open.popLast() {
      guard places.insert(place) else { continue }
      switch steps[place] {
      case .take, .finish: break
      case .jump(let target): open.append(target)
      case .split(let first, let second): open += [first, second]
      case .check(let assertion):
        if assertion.holds(at: index, in: scalars) { open.append(place + 1) }
      }
    }
  }

  /// A set of places that can be emptied quickly.
  private struct PlaceSet {
    private(set) var members: [Int] = []
    private var generations: [Int]
    private var generation = 1

    init(count: Int) { generations = Array(repeating: 0, count: count) }

    mutating func removeAll() {
      members.removeAll(keepingCapacity: true)
      generation += 1
    }

    mutating func insert(_ place: Int) -> Bool {
      guard generations[place] != generation else { return false }
      generations[place] = generation
      members.append(place)
      return true
    }
  }

  // MARK: - Compiling

  private struct Compiler {
    let pattern: String
    var steps: [Step] = []
    var work = 0

    mutating func compile(_ node: RegularExpressionNode) throws(EvaluationError) {
      // Repetitions of nothing add no step, so work is counted as well.
      work += 1
      guard work <= RegularExpression.stepLimit, steps.count < RegularExpression.stepLimit else {
        throw .invalidPattern(pattern: pattern, reason: "it comes to more than \(RegularExpression.stepLimit) steps")
      }
      switch node {
      case .set(let set): steps.append(.take(set))
      case .assertion(let assertion): steps.append(.check(assertion))
      case .sequence(let nodes):
        for node in nodes { try compile(node) }
      case .alternatives(let nodes):
        var ends: [Int] = []
        for (index, node) in nodes.enumerated() {
          guard index < nodes.count - 1 else {
            try compile(node)
            break
          }
          let split = steps.count
          steps.append(.jump(0))
          try compile(node)
          ends.append(steps.count)
          steps.append(.jump(0))
          steps[split] = .split(split + 1, steps.count)
        }
        for end in ends { steps[end] = .jump(steps.count) }
      case .repetition(let node, let minimum, let maximum):
        try compile(node, minimum: minimum, maximum: maximum)
      }
    }

    private mutating func compile(
      _ node: RegularExpressionNode, minimum: Int, maximum: Int?
    ) throws(EvaluationError) {
      for _ in 0..<minimum { try compile(node) }
      guard let maximum else {
        let split = steps.count
        steps.append(.jump(0))
        try compile(node)
        steps.append(.jump(split))
        steps[split] = .split(split + 1, steps.count)
        return
      }
      var splits: [Int] = []
      for _ in minimum..<max(minimum, maximum) {
        splits.append(steps.count)
        steps.append(.jump(0))
        try compile(node)
      }
      for split in splits { steps[split] = .split(split + 1, steps.count) }
    }
  }
}

/// A part of a pattern.
indirect enum RegularExpressionNode {
  case set(RegularExpressionSet)
  case assertion(RegularExpressionAssertion)
  case sequence([RegularExpressionNode])
  case alternatives([RegularExpressionNode])
  case repetition(RegularExpressionNode, minimum: Int, maximum: Int?)
}

/// A condition on the place between two characters.
enum RegularExpressionAssertion {
  case start, end, lineStart, lineEnd, lastLineEnd, wordBoundary, noWordBoundary

  /// Tells whether the condition holds before the character at an index.
  func holds(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
    switch self {
    case .start: return index == 0
    case .end: return index == scalars.count
    case .lineStart: return index == 0 || index < scalars.count && scalars[index - 1].endsLine
    case .lineEnd: return index == scalars.count || scalars[index].endsLine
    case .lastLineEnd:
      let rest = scalars[index...]
      return rest.isEmpty || rest.count == 1 && rest.allSatisfy(\.endsLine) || rest.elementsEqual(["\r", "\n"])
    case .wordBoundary, .noWordBoundary:
      let before = index > 0 && RegularExpressionSet.isWord(scalars[index - 1])
      let after = index < scalars.count && RegularExpressionSet.isWord(scalars[index])
      return (before != after) == (self == .wordBoundary)
    }
  }
}

extension Unicode.Scalar {
  /// True when a line ends here.
  var endsLine: Bool {
    switch self {
    case "\n", "\u{b}", "\u{c}", "\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}

/// The characters that one step of a pattern takes.
struct RegularExpressionSet {
  /// A part of the set.
  enum Part {
    case range(ClosedRange<UInt32>)
    case digits, words, spaces, notLineEnds, anything
    case category(String)
    indirect case inverse(Part)
  }

  /// The parts; a member is in at least one of them.
  var parts: [Part]
  /// True when the set holds all other characters instead.
  var isInverse: Bool = false
  /// True when a character's other case counts as well.
  var isCaseInsensitive: Bool = false

  /// Tells whether the set has a character.
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isMember = parts.contains { Self.has($0, scalar) }
    if !isMember, isCaseInsensitive {
      // Both ways: the long s and the Kelvin sign have lowercase forms that ASCII letters share.
      for mapping in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
        guard mapping.unicodeScalars.count == 1, let other = mapping.unicodeScalars.first else { continue }
        if parts.contains(where: { Self.has($0, other) }) { isMember = true }
      }
    }
    return isMember != isInverse
  }

  private static func has(_ part: Part, _ scalar: Unicode.Scalar) -> Bool {
    switch part {
    case .range(let range): range.contains(scalar.value)
    case .digits: scalar.properties.generalCategory == .decimalNumber
    case .words: isWord(scalar)
    case .spaces: scalar.properties.isWhitespace
    case .notLineEnds: !scalar.endsLine
    case .anything: true
    case .category(let name): scalar.properties.generalCategory.abbreviation.hasPrefix(name)
    case .inverse(let part): !has(part, scalar)
    }
  }

  /// Tells whether a character belongs to words: a letter, mark, digit or connecting punctuation.
  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isAlphabetic || scalar == "\u{200c}" || scalar == "\u{200d}" { return true }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
    default: return false
    }
  }
}

extension Unicode.GeneralCategory {
  /// The two letters of the category in Unicode's tables.
  fileprivate var abbreviation: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
