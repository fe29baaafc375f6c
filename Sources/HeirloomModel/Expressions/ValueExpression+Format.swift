extension ValueExpression: CustomStringConvertible {
  /// The expression as format text, which parses to an equal expression.
  ///
  /// It is Core Data's text, except for constants whose type that text doesn't show: `YES` (Core Data: `1`), `2.0`
  /// (`2`), `CAST("00ff", "NSData")`. Names that format text can't contain, ``unparsed(_:)`` and trees of more than 64
  /// levels don't parse back.
  public var predicateFormat: String {
    var printer = ExpressionPrinter(style: .exact)
    printer.write(self, minimum: .min)
    return printer.text
  }

  /// For the version hash of a derived attribute: `items.@count` gives `count:(items)`.
  package var hashFormat: String {
    var printer = ExpressionPrinter(style: .hashed)
    printer.write(compiled, minimum: .min)
    return printer.text
  }

  /// The expression as format text.
  public var description: String { predicateFormat }

  /// Archives and hashes of derived attributes have functions in place of collection operators.
  ///
  /// `items.@count` is `count:(items)`. `items.@sum.price` and the like are treated alike, but no
  /// known model confirms that.
  package var compiled: ValueExpression {
    guard case .keyPath(let operand, let path) = self else { return self }
    let names = path.names(separatedBy: ".")
    guard let place = names.firstIndex(where: { $0.hasPrefix("@") }),
      let selector = FunctionSelector.collectionOperators[String(names[place])]
    else { return self }
    let rest = names[..<place] + names[(place + 1)...]
    guard !rest.contains(where: { $0.hasPrefix("@") }) else { return self }
    let argument = rest.isEmpty ? operand : .keyPath(operand: operand, path: rest.joined(separator: "."))
    return .function(operand: nil, selector: selector, arguments: [argument])
  }
}

extension PredicateDescription: CustomStringConvertible {
  /// The predicate as format text, which parses to an equal predicate.
  ///
  /// It is Core Data's text with the exceptions of ``ValueExpression/predicateFormat``. A list of one condition is
  /// written as that condition, an empty one as `TRUEPREDICATE` or `FALSEPREDICATE`.
  public var predicateFormat: String {
    var printer = ExpressionPrinter(style: .exact)
    printer.write(self)
    return printer.text
  }

  /// For the version hash of a derived attribute with this filter.
  package var hashFormat: String {
    var printer = ExpressionPrinter(style: .hashed)
    printer.write(self)
    return printer.text
  }

  /// The predicate as format text.
  public var description: String { predicateFormat }
}
