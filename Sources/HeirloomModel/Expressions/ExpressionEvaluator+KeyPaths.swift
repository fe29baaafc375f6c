extension ExpressionEvaluator {
  func value(atPath path: String, of start: EvaluatedValue) throws -> EvaluatedValue {
    try value(at: path.names(separatedBy: ".")[...], of: start)
  }

  private func value(at names: ArraySlice<Substring>, of start: EvaluatedValue) throws -> EvaluatedValue {
    var value = start
    var rest = names
    while let name = rest.popFirst() {
      if name.hasPrefix("@") { return try collect(String(name), of: value, rest: rest) }
      value = try self.value(forKey: String(name), of: value)
    }
    return value
  }

  func value(forKey key: String, of value: EvaluatedValue) throws -> EvaluatedValue {
    switch value {
    case .null: return .null
    case .list(let elements): return .list(try elements.map { try self.value(forKey: key, of: $0) })
    case .object(let source):
      guard let result = try source.value(forKey: key) else { throw EvaluationError.unknownKey(key) }
      return result
    case .value(let attribute):
      // Models use these keys on plain values: the length limits of strings are `length >= 3`.
      switch (attribute, key) {
      case (.string(let text), "length"): return .integer(Int64(text.utf16.count))
      case (.binary(let bytes), "length"): return .integer(Int64(bytes.count))
      case (.string(let text), "lowercaseString"): return .string(text.lowercased())
      case (.string(let text), "uppercaseString"): return .string(text.uppercased())
      case (_, "self"): return value
      case (.composite(let elements), _): return elements[key].map { .value($0) } ?? .null
      default: throw EvaluationError.unknownKey(key)
      }
    }
  }

  private func collect(_ name: String, of value: EvaluatedValue, rest: ArraySlice<Substring>) throws -> EvaluatedValue {
    let elements = try members(of: value, for: name)
    switch name {
    case "@count": return .integer(Int64(elements.count))
    case "@firstObject": return try self.value(at: rest, of: elements.first ?? .null)
    case "@lastObject": return try self.value(at: rest, of: elements.last ?? .null)
    default: break
    }
    let values = try members(of: self.value(at: rest, of: .list(elements)), for: name)
    switch name {
    case "@sum": return try sum(of: values, for: name)
    case "@avg": return try average(of: values, for: name)
    case "@min": return try extreme(of: values, sign: -1, for: name)
    case "@max": return try extreme(of: values, sign: 1, for: name)
    case "@unionOfObjects": return .list(values.filter { !$0.isNull })
    case "@distinctUnionOfObjects": return .list(Self.distinct(values.filter { !$0.isNull }))
    case "@unionOfArrays", "@unionOfSets":
      return .list(try values.flatMap { try members(of: $0, for: name) }.filter { !$0.isNull })
    case "@distinctUnionOfArrays", "@distinctUnionOfSets":
      return .list(Self.distinct(try values.flatMap { try members(of: $0, for: name) }.filter { !$0.isNull }))
    default: throw EvaluationError.unknownKey(name)
    }
  }

  static func flattened(_ elements: [EvaluatedValue]) -> [EvaluatedValue] {
    elements.flatMap { element in
      if case .list(let inner) = element { flattened(inner) } else { [element] }
    }
  }
}
