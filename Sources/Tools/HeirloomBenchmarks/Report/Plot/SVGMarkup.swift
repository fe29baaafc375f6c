import Foundation

package enum SVGMarkup {
  /// `kind` is the style's name.
  package static func text(_ text: String, x: Double, y: Double, kind: String) -> String {
    "<text class=\"\(kind)\" x=\"\(number(x))\" y=\"\(number(y))\">\(escaped(text))</text>"
  }

  /// Rounded to tenths, without unneeded digits.
  package static func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    guard text.hasSuffix(".0") else { return text }
    return text == "-0.0" ? "0" : String(text.dropLast(2))
  }

  /// Characters that XML doesn't allow become spaces.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
