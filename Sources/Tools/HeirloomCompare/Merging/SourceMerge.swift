import HeirloomFormats

/// The merge of model sources as trees of XML, which keeps unknown content.
struct SourceMerge {
  struct Document {
    /// Before the outermost element.
    var start: String
    var root: MergeNode
    /// After it.
    var end: String
    var lineEnd: String
  }

  /// Elements whose children are merged one by one.
  private static let divisible: Set<String> = [
    "model", "entity", "elements", "userInfo", "configuration", "composite", "uniquenessConstraints", "compoundIndexes",
  ]

  /// Throws unless the bytes are one well-formed document in UTF-8.
  static func document(_ bytes: [UInt8]) throws(FormatError) -> Document {
    // This rejects invalid input; the scanner needs no further checks.
    _ = try MarkupReader.rootElement(of: bytes)
    var scanner = MarkupScanner(bytes)
    guard let document = scanner.document() else {
      throw FormatError(.line(1), "The document is not well-formed XML: its tags can't be parsed.")
    }
    return document
  }

  static func node(_ name: String, _ settings: [MergeNode.Setting], _ children: [MergeNode]) -> MergeNode {
    func value(_ setting: String) -> String? { settings.first { $0.name == setting }?.value }
    var key = value("name") ?? value("key") ?? ""
    switch name {
    case "constraint", "index": key = value("value") ?? ""
    case "uniquenessConstraint", "compoundIndex":
      key = children.map(\.key.name).joined(separator: ", ")
    case "model": key = ""
    default: break
    }
    var node = MergeNode(
      key: MergeNode.Key(kind: name, name: key), form: .element, settings: settings, children: children)
    node.isWhole = !divisible.contains(name)
    node.isIncidental = name == "element" || name == "elements"
    if name == "element" { node.isWhole = false }
    node.formerName = value("elementID").flatMap { $0.isEmpty ? nil : $0 }
    return node
  }

  /// In Xcode's format.
  static func text(_ document: Document) -> String {
    var lines: [String] = []
    write(document.root, 0, &lines)
    return document.start + lines.joined(separator: document.lineEnd) + document.end
  }

  private static func write(_ node: MergeNode, _ depth: Int, _ lines: inout [String]) {
    let margin = String(repeating: "    ", count: depth)
    switch node.form {
    case .text(let text): lines.append(margin + text)
    case .conflict(let ours, let theirs):
      lines.append("<<<<<<< ours")
      if let ours { write(ours, depth, &lines) }
      lines.append("=======")
      if let theirs { write(theirs, depth, &lines) }
      lines.append(">>>>>>> theirs")
    default:
      let isText =
        !node.children.isEmpty && node.children.allSatisfy { if case .text = $0.form { true } else { false } }
      let ending = node.children.isEmpty ? "/>" : ">"
      func tag(_ settings: [MergeNode.Setting]) -> String {
        "\(margin)<\(node.key.kind)" + settings.map { " \($0.name)=\"\($0.value)\"" }.joined() + ending
      }
      if let theirs = node.settingsOfTheirs {
        lines += ["<<<<<<< ours", tag(node.settings), "=======", tag(theirs), ">>>>>>> theirs"]
      } else if isText {
        var inner: [String] = []
        for child in node.children { write(child, 0, &inner) }
        lines.append(tag(node.settings) + inner.joined() + "</\(node.key.kind)>")
        return
      } else {
        lines.append(tag(node.settings))
      }
      guard !node.children.isEmpty else { return }
      for child in node.children { write(child, depth + 1, &lines) }
      lines.append("\(margin)</\(node.key.kind)>")
    }
  }
}

/// For a well-formed document; preserves order and spelling.
struct MarkupScanner {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// `nil` if the tags can't be separated.
  mutating func document() -> SourceMerge.Document? {
    while let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
      place = tag
      if isAt("<!--") {
        guard skip(past: "-->") else { return nil }
      } else if isAt("<?") || isAt("<!") {
        guard skip(past: ">") else { return nil }
      } else {
        break
      }
    }
    let start = place
    guard let root = element(depth: 0) else { return nil }
    let head = text(0..<start)
    return SourceMerge.Document(
      start: head, root: root, end: text(place..<bytes.count),
      lineEnd: text(0..<bytes.count).contains("\r\n") ? "\r\n" : "\n")
  }

  private mutating func element(depth: Int) -> MergeNode? {
    guard depth < 200, take("<"), let name = name() else { return nil }
    var settings: [MergeNode.Setting] = []
    while true {
      skipBlanks()
      if take("/>") { return SourceMerge.node(name, settings, []) }
      if take(">") { break }
      guard let setting = setting() else { return nil }
      settings.append(setting)
    }
    var children: [MergeNode] = []
    while true {
      let start = place
      guard let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) else { return nil }
      let text = text(start..<tag)
      if !text.allSatisfy(\.isWhitespace) { children.append(Self.text(text)) }
      place = tag
      if take("</") {
        guard self.name() == name else { return nil }
        skipBlanks()
        return take(">") ? SourceMerge.node(name, settings, children) : nil
      }
      if isAt("<!--") || isAt("<![CDATA[") {
        guard skip(past: isAt("<!--") ? "-->" : "]]>") else { return nil }
        children.append(Self.text(self.text(tag..<place)))
      } else if let child = element(depth: depth + 1) {
        children.append(child)
      } else {
        return nil
      }
    }
  }

  private static func text(_ text: String) -> MergeNode {
    MergeNode(key: MergeNode.Key(kind: "text", name: text), form: .text(text))
  }

  private mutating func name() -> String? {
    let start = place
    let ends = Array(" \t\r\n=/>".utf8)
    while place < bytes.count, !ends.contains(bytes[place]) { place += 1 }
    return start == place ? nil : text(start..<place)
  }

  private mutating func setting() -> MergeNode.Setting? {
    guard let name = name() else { return nil }
    skipBlanks()
    guard take("=") else { return nil }
    skipBlanks()
    guard place < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[place]),
      let end = bytes[(place + 1)...].firstIndex(of: bytes[place])
    else { return nil }
    let value = text(place + 1..<end)
    let isSingle = bytes[place] == UInt8(ascii: "'")
    place = end + 1
    return MergeNode.Setting(name: name, value: isSingle ? value.replacing("\"", with: "&quot;") : value)
  }

  // MARK: - Bytes

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private func isAt(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

  private mutating func take(_ text: String) -> Bool {
    guard isAt(text) else { return false }
    place += text.utf8.count
    return true
  }

  private mutating func skipBlanks() {
    while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
  }

  /// Returns false if the text doesn't occur.
  private mutating func skip(past text: String) -> Bool {
    while place < bytes.count, !isAt(text) { place += 1 }
    return take(text)
  }
}
