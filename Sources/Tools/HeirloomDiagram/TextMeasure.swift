/// The estimated width of text in an unknown font, based on the widest of the usual system fonts.
enum TextMeasure {
  /// In pixels, rather too large than too small; `size` is the font's.
  static func width(of text: String, size: Double, isBold: Bool = false) -> Double {
    text.unicodeScalars.reduce(0) { $0 + width(of: $1) } * size * (isBold ? 1.1 : 1)
  }

  static func fitted(_ text: String, width limit: Double, size: Double, isBold: Bool = false) -> String {
    guard width(of: text, size: size, isBold: isBold) > limit else { return text }
    var result = ""
    var used = width(of: "…", size: size, isBold: isBold)
    for character in text {
      used += width(of: String(character), size: size, isBold: isBold)
      guard used <= limit else { break }
      result.append(character)
    }
    return result + "…"
  }

  /// As a fraction of the font's size, measured in DejaVu Sans, which is wider than similar fonts.
  private static func width(of scalar: Unicode.Scalar) -> Double {
    switch scalar {
    case "i", "j", "l", "I", "'", "|": 0.31
    case " ", ".", ",", ":", ";", "!", "/", "\\", "[", "]", "(", ")", "-", "f", "t", "r": 0.42
    case "m", "w", "M", "W", "%", "@", "…", "→", "~", "+", "−", "<", ">", "=": 1.0
    case "A"..."Z", "#", "&": 0.77
    case "\u{20}"..."\u{7E}": 0.63
    // Combining marks and other scalars without width.
    case "\u{300}"..."\u{36F}", "\u{200B}"..."\u{200F}", "\u{FE00}"..."\u{FE0F}": 0
    case "\u{A0}"..."\u{10FF}": 0.8
    default: 1.1
    }
  }
}
