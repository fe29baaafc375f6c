package enum NameSuggestion {
  /// The first of equally similar names; `nil` if none is similar.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let typed = letters(word)
    if let same = names.first(where: { letters($0) == typed }) { return same }
    // A word of one or two letters is similar to everything; a long one is not a name, and would be slow.
    guard typed.count >= 3, typed.count <= 64 else { return nil }
    var best: (name: String, distance: Int)?
    for name in names {
      let wanted = letters(name)
      let allowed = max(1, min(typed.count, wanted.count) / 3)
      var found = distance(typed, wanted)
      // A typed prefix of a name is similar to it.
      if found > allowed, wanted.starts(with: typed) { found = allowed }
      guard found <= allowed, best.map({ found < $0.distance }) ?? true else { continue }
      best = (name, found)
    }
    return best?.name
  }

  /// The end of a message about an unknown name: `; did you mean "title"?`, or else a full stop.
  package static func question(_ nearest: String?) -> String {
    nearest.map { "; did you mean \"\($0)\"?" } ?? "."
  }

  private static func letters(_ word: String) -> [Character] {
    Array(word.lowercased().drop { $0 == "-" })
  }

  /// Counts letters to insert, delete, replace or exchange with their neighbour.
  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var rows = [Array(0...second.count)]
    for (line, letter) in first.enumerated() {
      var row = [line + 1]
      for (column, other) in second.enumerated() {
        var least = min(rows[line][column + 1] + 1, row[column] + 1, rows[line][column] + (letter == other ? 0 : 1))
        if line > 0, column > 0, letter == second[column - 1], first[line - 1] == other {
          least = min(least, rows[line - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}
