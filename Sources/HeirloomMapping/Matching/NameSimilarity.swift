package enum NameSimilarity {
  /// Returns 1 for names that differ only in case, else the larger share of letter pairs or words.
  package static func value(_ one: String, _ other: String) -> Double {
    if one.lowercased() == other.lowercased() { return 1 }
    return max(share(letterPairs(one), letterPairs(other)), share(words(one), words(other)))
  }

  private static func share(_ one: [String], _ other: [String]) -> Double {
    var rest: [String: Int] = [:]
    for part in other { rest[part, default: 0] += 1 }
    var common = 0
    for part in one {
      guard let count = rest[part], count > 0 else { continue }
      rest[part] = count - 1
      common += 1
    }
    let total = one.count + other.count
    return total == 0 ? 0 : 2 * Double(common) / Double(total)
  }

  private static func letterPairs(_ name: String) -> [String] {
    let letters = Array(name.lowercased())
    return zip(letters, letters.dropFirst()).map { String([$0, $1]) }
  }

  /// Such as those of `fullName`, `full_name` and `HTMLText`.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var wasUpper = false
    for character in name {
      guard character.isLetter || character.isNumber else {
        if !word.isEmpty { words.append(word) }
        (word, wasUpper) = ("", false)
        continue
      }
      if character.isUppercase, !wasUpper, !word.isEmpty {
        words.append(word)
        word = ""
      } else if !character.isUppercase, wasUpper, word.count > 1 {
        // The last capital of several begins the next word.
        let first = String(word.removeLast())
        words.append(word)
        word = first
      }
      word += character.lowercased()
      wasUpper = character.isUppercase
    }
    return word.isEmpty ? words : words + [word]
  }
}
