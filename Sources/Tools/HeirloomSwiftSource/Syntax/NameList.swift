enum NameList {
  /// As in `A, B and C`; of more than nine, eight are named.
  static func text(_ names: [String]) -> String {
    let shown = names.count > 9 ? names.prefix(8) + ["\(names.count - 8) more"] : names[...]
    guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
    return "\(shown.dropLast().joined(separator: ", ")) and \(last)"
  }
}
