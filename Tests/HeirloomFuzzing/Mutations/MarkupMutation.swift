import HeirloomFormats

/// An XML document as its elements, which are changed and written again.
struct MarkupMutation {
  private final class Element {
    var name: String
    var attributes: [(name: String, value: String)]
    var children: [Element]
    var text: String

    init(_ element: MarkupElement) {
      name = element.name
      attributes = element.attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      children = element.children.map { Element($0) }
      text = element.text
    }

    init(copying other: Element) {
      name = other.name
      attributes = other.attributes
      children = other.children.map { Element(copying: $0) }
      text = other.text
    }

    func collect(_ all: inout [Element]) {
      all.append(self)
      for child in children { child.collect(&all) }
    }
  }

  private let root: Element

  /// Returns `nil` if the bytes are no XML.
  init?(_ bytes: [UInt8]) {
    guard let element = try? MarkupReader.rootElement(of: bytes) else { return nil }
    root = Element(element)
  }

  func mutate(using random: inout FuzzRandom) {
    for _ in 0...random.below(4) {
      var all: [Element] = []
      root.collect(&all)
      let element = random.pick(all)
      let other = random.pick(all)
      switch random.below(14) {
      case 0 where !element.children.isEmpty: element.children.remove(at: random.below(element.children.count))
      case 1 where all.count < 3000: element.children.append(Element(copying: random.pick(other.children + [other])))
      case 2: element.name = random.once(in: 6) ? random.pick(["a", "plist", "dict", "model", "x:y"]) : other.name
      case 3 where !element.attributes.isEmpty:
        element.attributes.remove(at: random.below(element.attributes.count))
      case 4: element.attributes += other.attributes.prefix(1)
      case 5: element.text = random.text()
      case 6: element.text = other.text
      case 7 where element.children.count > 1:
        element.children.swapAt(random.below(element.children.count), random.below(element.children.count))
      case 8: nest(element, using: &random)
      case 9 where !element.attributes.isEmpty && !other.attributes.isEmpty:
        element.attributes[random.below(element.attributes.count)].value = random.pick(other.attributes).value
      default:
        guard !element.attributes.isEmpty else { continue }
        let place = random.below(element.attributes.count)
        let value = random.once(in: 3) ? "\(random.number())" : random.text()
        element.attributes[place].value = value
      }
    }
  }

  private func nest(_ element: Element, using random: inout FuzzRandom) {
    guard random.once(in: 4) else { return }
    for _ in 0..<random.pick([2, 40, 200]) {
      let inner = Element(copying: element)
      inner.children = element.children
      element.children = [inner]
    }
  }

  /// Sometimes with markup that no file of Xcode's has.
  func encoded(using random: inout FuzzRandom) -> [UInt8] {
    var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"
    let odd = random.below(60)
    switch odd {
    case 0: text += #"<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;">]>"#
    case 1: text += #"<!DOCTYPE a SYSTEM "file:///etc/passwd">"#
    case 2: text += "<!-- <!ENTITY --><?php x?>"
    case 3: text = #"<?xml version="1.0" encoding="UTF-16"?>"#
    case 4: text = "\u{FEFF}" + text
    default: break
    }
    write(root, to: &text, using: &random, oddness: odd)
    if odd == 5 { text += text }
    return Array(text.utf8)
  }

  private func write(_ element: Element, to text: inout String, using random: inout FuzzRandom, oddness: Int) {
    text += "<" + element.name
    for attribute in element.attributes { text += " \(attribute.name)=\"\(escaped(attribute.value))\"" }
    guard !element.children.isEmpty || !element.text.isEmpty else { return text += "/>" }
    text += ">" + escaped(element.text)
    if oddness == 6, random.once(in: 8) {
      text += random.pick(["&x;", "&#0;", "&#xFFFFFF;", "<![CDATA[<&]]>", "<?a?>", "<!--x-->"])
    }
    for child in element.children { write(child, to: &text, using: &random, oddness: oddness) }
    text += "</" + element.name + ">"
  }

  /// Characters that XML can't have become others.
  private func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t", "\r": result += "&#\(scalar.value);"
      case _ where scalar.value < 0x20: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
