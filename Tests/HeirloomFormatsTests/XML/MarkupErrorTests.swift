import HeirloomFormats
import Testing

/// Documents with one mistake each: the error says in words what is wrong, and names the line where a person finds it.
struct MarkupErrorTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var lines = ["<model>", " <entity name=\"E\">", "  <attribute name=\"a\"/>", " </entity>", "</model>"]
    let line: Int
    let words: String

    init(_ name: String, _ place: Int, _ text: String, line: Int? = nil, _ words: String) {
      testDescription = name
      lines[place - 1] = text
      (self.line, self.words) = (line ?? place, words)
    }
  }

  static let mistakes: [Mistake] = [
    Mistake("a quotation mark that is not closed", 2, " <entity name=\"E>", "<entity> has no end: a quotation mark"),
    Mistake("a quotation mark that is not opened", 2, " <entity name=E\">", "<entity> has no end: a quotation mark"),
    Mistake("a value without quotation marks", 2, " <entity name=E>", "needs quotation marks"),
    Mistake("a tag without an end", 2, " <entity name=\"E\"", "<entity> has no end: a"),
    Mistake("a closing tag without an end", 4, " </entity", "</entity> has no end"),
    Mistake(
      "an element that is not closed", 3, "  <attribute name=\"a\">", line: 4, "<attribute> of line 3 is still open"),
    Mistake("a closing tag with another name", 4, " </entty>", "<entity> of line 2 is still open"),
    Mistake("a closing tag too many", 3, "  </attribute>", "<entity> of line 2 is still open"),
    Mistake("a missing closing tag at the end", 5, "", line: 1, "before the element <model> is closed"),
    Mistake("a plain ampersand", 3, "  <attribute name=\"a & b\"/>", "&amp;"),
    Mistake("an unknown name after an ampersand", 3, "  <attribute name=\"&nbsp;\"/>", "&amp;"),
    Mistake("an attribute twice", 3, "  <attribute name=\"a\" name=\"b\"/>", "a duplicate attribute in a tag"),
    Mistake("no space between attributes", 3, "  <attribute name=\"a\"type=\"b\"/>", "a space"),
    Mistake("an attribute without a value", 3, "  <attribute name/>", "no = and value"),
    Mistake("a space in front of a name", 3, "  < attribute/>", "a name was expected"),
    Mistake("a control character", 3, "  <attribute name=\"\u{1}\"/>", "XML doesn't allow"),
    Mistake("a comment that is not closed", 3, "  <!-- <attribute name=\"a\"/>", "no --> ends"),
    Mistake("a declaration", 3, "  <!ENTITY a \"b\">", "declaration"),
    Mistake("something after the end", 5, "</model> rest", "follows the outermost element"),
    Mistake(
      "a conflict of git's", 2, "<<<<<<< HEAD\n <entity name=\"E\">", "begins with <<<<<<<, a Git merge conflict marker"
    ),
    Mistake("a conflict in the middle of a tag", 3, "  <attribute\n<<<<<<< ours", line: 4, "begins with <<<<<<<"),
  ]

  @Test(arguments: mistakes)
  func `a mistake is told in words, with its line`(mistake: Mistake) throws {
    let error = try #require(throws: FormatError.self) {
      try MarkupReader.rootElement(of: Array(mistake.lines.joined(separator: "\n").utf8))
    }
    #expect(error.description.hasPrefix("Line \(mistake.line): "), "\(error)")
    #expect(error.description.contains(mistake.words) && !error.description.contains("parser"), "\(error)")
  }

  @Test(arguments: ["=======", ">>>>>>> theirs", "||||||| base\n======="])
  func `what is left of a conflict between elements is told as such`(mark: String) throws {
    let text = "<model>\n <entity name=\"E\"/>\n\(mark)\n</model>"
    let error = try #require(throws: ModelReadingError.self) { try ModelSourceReader.read(Array(text.utf8)) }
    let line = mark.hasPrefix("|") ? 4 : 3
    #expect(error.line == line && error.description.contains("line \(line), is not a complete model"), "\(error)")
    #expect(
      error.description.contains("begins with \(mark.last == "=" ? "=======" : ">>>>>>>"), a Git merge conflict marker")
    )
  }

  @Test func `what looks like markup or a conflict inside a comment is no fault`() throws {
    let text = "<model>\n<!-- <entity name=\"E>\n=======\n<?a?> -->\n<a><![CDATA[ <b name=\" ]]></a></model>"
    #expect(try MarkupReader.rootElement(of: Array(text.utf8)).children.map(\.name) == ["a"])
  }
}
