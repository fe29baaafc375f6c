/// A pattern of `LIKE`: `*` matches any characters, `?` matches one, and a backslash escapes them.
struct WildcardPattern {
  private enum Element {
    case anyCharacters
    case anyCharacter
    case character(Character)
  }

  private let elements: [Element]

  /// Every text is a valid pattern.
  init(_ pattern: String) {
    var elements: [Element] = []
    var isEscaped = false
    for character in pattern {
      switch character {
      case _ where isEscaped:
        elements.append(.character(character))
        isEscaped = false
      case "\\": isEscaped = true
      case "*": elements.append(.anyCharacters)
      case "?": elements.append(.anyCharacter)
      default: elements.append(.character(character))
      }
    }
    if isEscaped { elements.append(.character("\\")) }
    self.elements = elements
  }

  /// After a mismatch, only the last `*` is retried: O(*n* · *m*).
  func matches(_ text: String) -> Bool {
    let characters = Array(text)
    var element = 0
    var place = 0
    var retry: (element: Int, place: Int)?
    while place < characters.count {
      if element < elements.count {
        switch elements[element] {
        case .anyCharacters:
          retry = (element, place)
          element += 1
          continue
        case .anyCharacter:
          element += 1
          place += 1
          continue
        case .character(let character) where character == characters[place]:
          element += 1
          place += 1
          continue
        default: break
        }
      }
      guard let last = retry else { return false }
      retry = (last.element, last.place + 1)
      element = last.element + 1
      place = last.place + 1
    }
    return elements[element...].allSatisfy { if case .anyCharacters = $0 { true } else { false } }
  }
}
