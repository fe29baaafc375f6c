/// The selectors of functions with a notation of their own in predicate text.
package enum FunctionSelector {
  /// Written `a[index]`.
  static let index: String = "objectFrom:withIndex:"
  /// Written `CAST(value, "Type")`.
  package static let cast: String = "castObject:toType:"
  /// Written `~a`.
  static let complement: String = "onesComplement:"
  /// Functions without arguments in an expression.
  static let indexSymbols: [String] = ["FIRST", "LAST", "SIZE"]

  /// The receiver of built-in functions in archives.
  static let builtInReceiver: String = "_NSPredicateUtilities"

  static let collectionOperators: [String: String] = [
    "@count": "count:", "@sum": "sum:", "@min": "min:", "@max": "max:", "@avg": "average:",
  ]

  struct Infix {
    var sign: String
    var selector: String
    /// A higher one binds more tightly.
    var precedence: Int
    /// True when `a ○ b ○ c` means `a ○ (b ○ c)`.
    var isRightAssociative: Bool = false
  }

  static let setOperationPrecedence: Int = 1

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

  /// For a function written without colons, such as `modulus(a, b)`.
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
