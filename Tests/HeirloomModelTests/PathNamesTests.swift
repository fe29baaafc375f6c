import HeirloomModel
import Testing

/// Paths whose names begin with a mark: Swift takes it and the separator before it for one character.
struct PathNamesTests {
  @Test(arguments: [
    ("a.b", ["a", "b"]), ("a.\u{301}b", ["a", "\u{301}b"]), ("\u{301}.\u{200D}x", ["\u{301}", "\u{200D}x"]),
    ("a..b", ["a", "", "b"]), ("", [""]), (".\u{FE0F}", ["", "\u{FE0F}"]),
  ])
  func `names are told by their separator, whatever follows it`(_ path: String, _ names: [String]) {
    #expect(path.names(separatedBy: ".").map { Array($0.unicodeScalars) } == names.map { Array($0.unicodeScalars) })
    #expect(
      path.names(separatedBy: ".", omittingEmptySubsequences: true).map { Array($0.unicodeScalars) }
        == names.filter { !$0.isEmpty }.map { Array($0.unicodeScalars) })
  }

  @Test func `without it such a path would be one name`() {
    #expect("a.\u{301}b".split(separator: ".").count == 1)
  }
}
