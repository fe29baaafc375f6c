/// The keywords in the text of a predicate; letter case is ignored.
enum ReservedWord: String, CaseIterable {
  case and, or, not, all, any, some, none
  case `in`, like, matches, contains, beginswith, endswith, between, caseinsensitive, ci
  case null, `nil`, `self`, `true`, yes, `false`, no, truepredicate, falsepredicate
  case first, last, size, anykey
  case subquery, fetch, cast, function, ternary
  case union, intersect, minus, customselector

  init?(_ text: String) {
    // The longest keyword has 15 letters; folding longer texts would be a waste.
    guard text.utf8.count <= 16 else { return nil }
    self.init(rawValue: text.lowercased())
  }

  /// The others have a meaning only between brackets, before a parenthesis or between values.
  var isNeverName: Bool {
    switch self {
    case .first, .last, .size, .anykey, .caseinsensitive, .ci: false
    case .subquery, .fetch, .cast, .function, .ternary: false
    case .union, .intersect, .minus, .customselector: false
    default: true
    }
  }
}
