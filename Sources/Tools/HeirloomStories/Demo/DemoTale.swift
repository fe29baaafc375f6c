package import HeirloomOutput

/// The report of a story: lines for the terminal, steps for JSON.
package struct DemoTale {
  package var lines: [String] = []
  package private(set) var steps: [OutputValue] = []
  let style: TextStyle
  private var chapter = 0

  package init(style: TextStyle) {
    self.style = style
  }

  mutating func heading(_ text: String) {
    chapter += 1
    lines += ["", style.bold("\(chapter). \(sentence(text))")]
  }

  mutating func say(_ text: String) {
    lines.append("   \(text)")
  }

  mutating func step(_ name: String, _ members: OutputMembers) {
    steps.append(.object([("name", .text(name))] + members))
  }
}
