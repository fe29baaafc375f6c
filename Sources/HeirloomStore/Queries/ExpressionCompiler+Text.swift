import HeirloomModel

extension ExpressionCompiler {
  /// Both functions fail for an index beyond the text; `nil` for any other expression.
  mutating func substring(
    _ expression: ValueExpression, failing failure: @escaping (any Error, _ primaryKey: Int64) throws -> SQLiteValue
  ) -> CompiledValue? {
    guard case .function(let receiver?, let selector, let arguments) = expression, arguments.count == 1,
      evaluator.functions[selector] == nil, selector == "substringFromIndex:" || selector == "substringToIndex:",
      case .object(let object) = evaluated, case .row(let alias) = object.place
    else { return nil }
    let compiled = try? attempt { compiler throws(CompilationProblem) in
      guard case .scalar(let text) = try compiler.operand(receiver, depth: 0), text.kind == .string,
        case .scalar(let index) = try compiler.operand(arguments[0], depth: 0), index.kind == .integer
      else { throw .unsupported(selector) }
      let isEnd = selector == "substringFromIndex:"
      let name = try compiler.function { functions throws(SQLiteError) in
        try functions.name(isEnd ? "substring_from" : "substring_to", key: nil, argumentCount: 3) { arguments in
          guard arguments.storageClass(at: 1) != .null else { return .null }
          // A missing index is an error, as in an evaluation.
          let index = arguments.storageClass(at: 2) == .integer ? arguments.integer(at: 2) : -1
          let part = arguments.withBytes(at: 1) { bytes in Self.part(of: bytes, atUnit: index, isEnd: isEnd) }
          if let part { return .text(part) }
          let count = (arguments.text(at: 1) ?? "").utf16.count
          return try failure(EvaluationError.indexOutOfRange(index: index, count: count), arguments.integer(at: 0))
        }
      }
      return CompiledValue(
        sql: "\(name)(\(alias).\(quote(PhysicalName.primaryKey)), \(text.sql), \(index.sql))", isEvaluated: false)
    }
    return compiled
  }

  /// `nil` if the unit isn't a boundary between two characters.
  private static func part(of bytes: UnsafeRawBufferPointer, atUnit unit: Int64, isEnd: Bool) -> String? {
    guard unit >= 0 else { return nil }
    var rest = unit
    var place = 0
    while rest > 0 {
      guard place < bytes.count else { return nil }
      let (length, units): (Int, Int64) =
        switch bytes[place] {
        case 0..<0x80: (1, 1)
        case 0xc2..<0xe0: (2, 1)
        case 0xe0..<0xf0: (3, 1)
        case 0xf0..<0xf5: (4, 2)
        // These bytes are not UTF-8, and Swift counts the characters that replace them.
        default: (0, 0)
        }
      guard length > 0 else { return slowPart(of: bytes, atUnit: unit, isEnd: isEnd) }
      rest -= units
      place += length
    }
    guard rest == 0, place <= bytes.count else { return nil }
    return String(decoding: isEnd ? bytes[place...] : bytes[..<place], as: UTF8.self)
  }

  private static func slowPart(of bytes: UnsafeRawBufferPointer, atUnit unit: Int64, isEnd: Bool) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard unit <= text.utf16.count,
      let index = text.utf16.index(text.startIndex, offsetBy: Int(clamping: unit)).samePosition(in: text.unicodeScalars)
    else { return nil }
    return String(isEnd ? text[index...] : text[..<index])
  }

  mutating func textPart(
    _ arguments: [ValueExpression], depth: Int
  ) throws(CompilationProblem) -> SQLOperand? {
    guard arguments.count == 2,
      case .function(let receiver?, "componentsSeparatedByString:", let inner) = arguments[0], inner.count == 1,
      evaluator.functions["componentsSeparatedByString:"] == nil,
      case .constant(.value(.string(let separator))) = inner[0], !separator.isEmpty
    else { return nil }
    let isFirst: Bool
    switch arguments[1] {
    case .constant(.value(.integer(0))), .function(nil, "FIRST", []): isFirst = true
    case .function(nil, "LAST", []): isFirst = false
    default: return nil
    }
    switch try operand(receiver, depth: depth) {
    case .null: return .null
    case .scalar(let term) where term.kind == .string:
      let name = try function { functions throws(SQLiteError) in
        try functions.partFunction(isFirst: isFirst, separator: Array(separator.utf8))
      }
      return .scalar(SQLTerm(sql: "\(name)(\(term.sql))", kind: .string))
    default: return nil
    }
  }
}
