/// A regular expression of `MATCHES`, which must match a whole text.
///
/// The matcher follows all alternatives at once, so the time is proportional to the text, whatever the pattern: there
/// is no backtracking that a pattern like `(a+)+b` could make exponential. Features that need backtracking are
/// rejected: back-references, look-around and possessive quantifiers. Otherwise the syntax is that of ICU
/// (`NSRegularExpression`).
struct RegularExpression {
  /// In Unicode scalars.
  static let lengthLimit: Int = 4096
  /// Counted with repetitions expanded.
  static let stepLimit: Int = 8192

  enum Step {
    case take(RegularExpressionSet)
    case split(Int, Int)
    case jump(Int)
    case check(RegularExpressionAssertion)
    case finish
  }

  private let steps: [Step]

  init(_ pattern: String, isCaseInsensitive: Bool = false) throws(EvaluationError) {
    var parser = try RegularExpressionParser(pattern, isCaseInsensitive: isCaseInsensitive)
    var compiler = Compiler(pattern: pattern)
    try compiler.compile(parser.parse())
    steps = compiler.steps + [.finish]
  }

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

  /// Adds a position and all that can be reached from it without consuming a character.
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

  /// A set of positions that can be emptied quickly.
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
      // Repetitions of an empty pattern add no steps, so the work is limited as well.
      work += 1
      guard work <= RegularExpression.stepLimit, steps.count < RegularExpression.stepLimit else {
        throw .invalidPattern(pattern: pattern, reason: "it expands to more than \(RegularExpression.stepLimit) steps")
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

indirect enum RegularExpressionNode {
  case set(RegularExpressionSet)
  case assertion(RegularExpressionAssertion)
  case sequence([RegularExpressionNode])
  case alternatives([RegularExpressionNode])
  case repetition(RegularExpressionNode, minimum: Int, maximum: Int?)
}

/// A condition on the position between two characters.
enum RegularExpressionAssertion {
  case start, end, lineStart, lineEnd, lastLineEnd, wordBoundary, noWordBoundary

  /// The position is before the character at the index.
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
  var endsLine: Bool {
    switch self {
    case "\n", "\u{b}", "\u{c}", "\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}

/// The set of characters that one step consumes.
struct RegularExpressionSet {
  enum Part {
    case range(ClosedRange<UInt32>)
    case digits, words, spaces, notLineEnds, anything
    case category(String)
    indirect case inverse(Part)
  }

  var parts: [Part]
  var isInverse: Bool = false
  var isCaseInsensitive: Bool = false

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isMember = parts.contains { Self.has($0, scalar) }
    if !isMember, isCaseInsensitive {
      // Both directions: the lowercase forms of the long s and the Kelvin sign are those of ASCII letters.
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

  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isAlphabetic || scalar == "\u{200c}" || scalar == "\u{200d}" { return true }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
    default: return false
    }
  }
}

extension Unicode.GeneralCategory {
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
