import HeirloomModel
import Testing

struct NameOrderTests {
  // They are near the limits of UTF-8's lengths, and near the surrogates, where UTF-8 and UTF-16 order differently.
  private static let characters = [
    "", "A", "a", "\u{7F}", "\u{80}", "é", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{EFFF}", "\u{F000}",
    "\u{FFFD}",
    "\u{10000}", "\u{1F600}", "\u{10FFFF}",
  ]

  @Test(arguments: ["", "name", "é", "\u{E000}", "\u{1F600}"], characters)
  func `names are ordered by their UTF-16 units`(prefix: String, character: String) {
    for ending in ["", "a", "\u{E000}", "\u{10000}"] {
      let name = prefix + character + ending
      for other in Self.characters.flatMap({ [prefix + $0, prefix + $0 + "a", $0] }) {
        let expected = Array(name.utf16).lexicographicallyPrecedes(Array(other.utf16))
        #expect(name.utf16Precedes(other) == expected, "\(name.debugDescription) and \(other.debugDescription)")
      }
    }
  }
}
