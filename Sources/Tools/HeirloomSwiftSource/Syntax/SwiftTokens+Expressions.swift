/// Tokens in brackets are skipped.
extension SwiftTokens {
  /// Without `return`, a getter's braces, parentheses or a cast.
  func value(of range: Range<Int>) -> Range<Int> {
    var range = range
    while let first = range.first {
      if has("return", at: first) {
        range = first + 1..<range.upperBound
      } else if has("get", at: first), has("{", at: first + 1), partner(first + 1) == range.upperBound - 1 {
        range = inside(first + 1)
      } else if has("(", at: first), partner(first) == range.upperBound - 1 {
        range = inside(first)
      } else {
        break
      }
    }
    return parts(range) { has("as", at: $0) }.first ?? range
  }

  func parts(_ range: Range<Int>, at isSeparator: (Int) -> Bool) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var (index, start) = (range.lowerBound, range.lowerBound)
    while index < range.upperBound {
      if isSeparator(index) {
        result.append(start..<index)
        start = index + 1
      }
      index = next(index)
    }
    if start < range.upperBound { result.append(start..<range.upperBound) }
    return result
  }

  func path(_ range: Range<Int>) -> [String]? {
    guard range.count % 2 == 1 else { return nil }
    var names: [String] = []
    for (offset, index) in range.enumerated() {
      if offset % 2 == 1 {
        guard has(".", at: index) else { return nil }
      } else {
        guard isWord(at: index) else { return nil }
        names.append(text(index))
      }
    }
    return names
  }

  func labelled(_ item: Range<Int>) -> (label: String, value: Range<Int>) {
    guard item.count > 2, isWord(at: item.lowerBound), has(":", at: item.lowerBound + 1) else { return ("", item) }
    return (text(item.lowerBound), item.lowerBound + 2..<item.upperBound)
  }
}
