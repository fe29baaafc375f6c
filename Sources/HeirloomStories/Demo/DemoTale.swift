package import HeirloomOutput

/// The tale of a demo: lines for a person, steps for a program.
package struct DemoTale {
  /// The lines.
  package var lines: [String] = []
  /// The steps.
  package private(set) var steps: [OutputValue] = []
  /// The style of the lines.
  let style: TextStyle
  private var chapter = 0

  /// Creates an empty tale.
  package init(style: TextStyle) {
    self.style = style
  }

  /// Begins a chapter.
  mutating func heading(_ text: String) {
    chapter += 1
    lines += ["", style.bold("\(chapter). \(sentence(text))")]
  }

  /// Adds a line.
  mutating func say(_ text: String) {
    lines.append("   \(text)")
  }

  /// Adds a step.
  mutating func step(_ name: String, _ members: OutputMembers) {
    steps.append(.object([("name", .text(name))] + members))
  }
}
