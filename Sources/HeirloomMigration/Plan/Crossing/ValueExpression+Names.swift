import HeirloomModel

extension ValueExpression {
  func selectors(sentTo variable: String) -> [String] {
    var found: [String] = []
    for part in parts {
      if case .function(.variable(variable), let selector, _) = part { found.append(selector) }
    }
    return found
  }

  /// Also the key paths read from the evaluated object.
  func paths(of variable: String) -> [String] {
    parts.compactMap { part in
      switch part {
      case .keyPath(.variable(variable), let path), .keyPath(.evaluatedObject, let path): path
      case .function(.variable(variable), "valueForKey:", let arguments),
        .function(.variable(variable), "valueForKeyPath:", let arguments):
        if arguments.count == 1, case .constant(.value(.string(let path))) = arguments[0] { path } else { nil }
      default: nil
      }
    }
  }

  private var parts: [ValueExpression] {
    let children: [ValueExpression] =
      switch self {
      case .constant, .evaluatedObject, .variable, .unparsed: []
      case .keyPath(let operand, _): [operand]
      case .function(let operand, _, let arguments): (operand.map { [$0] } ?? []) + arguments
      case .aggregate(let elements): elements
      case .subquery(let collection, _, _): [collection]
      case .fetch(let request, let context, _): [request, context]
      case .conditional(_, let then, let otherwise): [then, otherwise]
      case .setOperation(_, let left, let right): [left, right]
      }
    return [self] + children.flatMap(\.parts)
  }
}
