/// The selectors of functions that predicate text writes in a way of their own.
package enum FunctionSelector {
  /// An element at an index: `a[index]`.
  static let index: String = "objectFrom:withIndex:"
  /// A value of another type: `CAST(value, "Type")`.
  package static let cast: String = "castObject:toType:"
  /// The inverse of all bits: `~a`.
  static let complement: String = "onesComplement:"
  /// The indexes that are words.
  ///
  /// In an expression they are functions without arguments.
  static let indexSymbols: [String] = ["FIRST", "LAST", "SIZE"]

  /// The class that archives name as the receiver of built-in functions.
  static let builtInReceiver: String = "_NSPredicateUtilities"

  /// The functions that collection operators of key paths stand for.
  static let collectionOperators: [String: String] = [
    "@count": "count:", "@sum": "sum:", "@min": "min:", "@max": "max:", "@avg": "average:",
  ]

  /// An operator between two values.
  struct Infix {
    /// The sign.
    var sign: String
    /// The function that it stands for.
    var selector: String
    /// The binding strength; a larger number binds more strongly.
    var precedence: Int
    /// True when `a ○ b ○ c` means `a ○ (b ○ c)`.
    var isRightAssociative: Bool = false
  }

  /// The binding strength of `UNION`, `INTERSECT` and `MINUS`, weaker than any infix operator's.
  static let setOperationPrecedence: Int = 1

  /// The infix operators.
  static let infixes: [Infix] = [
    Infix(sign: "|", selector: "bitwiseOr:with:", precedence: 2),
    Infix(sign: "^", selector: "bitwiseXor:with:", precedence: 3),
    Infix(sign: "&", selector: "bitwiseAnd:with:", precedence: 4),
    Infix(sign: "<<", selector: "leftshift:by:", precedence: 5),
    Infix(sign: ">>", selector: "rightshift:by:", precedence: 5),
    Infix(sign: "+", selector: "add:to:", precedence: 6),
    Infix(sign: "-", selector: "from:subtract:", precedence: 6),
    Infix(sign: "*", selector: "multiply:by:", precedence: 7),
    Infix(sign: "/", selector: "divide:by:", precedence: 7),
    Infix(sign: "**", selector: "raise:toPower:", precedence: 8, isRightAssociative: true),
  ]

  /// Returns the full selector of a function that text may write without colons, such as `modulus(a, b)`.
  static func selector(name: String, argumentCount: Int) -> String {
    switch (name, argumentCount) {
    case (_, 0): name
    case ("modulus", 2): "modulus:by:"
    case ("add", 2): "add:to:"
    case ("subtract", 2): "from:subtract:"
    case ("multiply", 2): "multiply:by:"
    case ("divide", 2): "divide:by:"
    default: name + ":"
    }
  }
}
