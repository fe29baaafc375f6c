/// The differences that a comparison of two texts ignores.
struct TextFolding {
  var ignoresCase: Bool = false
  /// Those of Latin, Greek and Cyrillic letters.
  var ignoresDiacritics: Bool = false
  /// Unicode's full case folding: "ﬁ" becomes "fi", since its uppercase form is "FI".
  var foldsFully: Bool = false
  /// Canonically equivalent spellings of a character are equal.
  var ignoresSpelling: Bool = false

  static let none: TextFolding = TextFolding()
  static let diacritics: TextFolding = TextFolding(ignoresDiacritics: true)
  static let canonical: TextFolding = TextFolding(ignoresCase: true, ignoresDiacritics: true, foldsFully: true)

  func folded(_ text: String) -> String {
    var folded = text
    if ignoresDiacritics {
      var scalars = String.UnicodeScalarView()
      for scalar in text.unicodeScalars where !Self.isDiacritic(scalar) {
        scalars.append(scalar.isASCII ? scalar : Self.letters[scalar] ?? scalar)
      }
      folded = String(scalars)
    }
    if foldsFully { return Self.caseFolded(folded) }
    // Lowercasing turns a final sigma into another letter, depending on the context.
    if ignoresCase { folded = folded.lowercased().replacing("\u{3c2}", with: "\u{3c3}") }
    return folded
  }

  func scalars(of text: String) -> [Unicode.Scalar] { Array(folded(text).unicodeScalars) }

  func isEqual(_ left: String, _ right: String) -> Bool {
    let left = folded(left)
    let right = folded(right)
    // Swift considers canonically equivalent texts equal; a store doesn't.
    return ignoresSpelling || ignoresCase || ignoresDiacritics ? left == right : left.utf8.elementsEqual(right.utf8)
  }

  func order(of left: String, to right: String) -> Int {
    if isEqual(left, right) { return 0 }
    return folded(left).unicodeScalars.lexicographicallyPrecedes(folded(right).unicodeScalars) ? -1 : 1
  }

  /// The form common to all cases of a letter, independent of language.
  private static func caseFolded(_ text: String) -> String {
    var folded = String.UnicodeScalarView()
    // The dotless i of Turkish has the same uppercase form as i.
    let dotless: Unicode.Scalar = "\u{131}"
    for scalar in text.unicodeScalars {
      for lower in scalar.properties.lowercaseMapping.unicodeScalars {
        if lower.isASCII || lower == dotless {
          folded.append(lower)
          continue
        }
        for upper in lower.properties.uppercaseMapping.unicodeScalars {
          folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
        }
      }
    }
    return String(folded)
  }

  private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x300...0x36f, 0x1ab0...0x1aff, 0x1dc0...0x1dff, 0x20d0...0x20ff, 0xfe20...0xfe2f: true
    default: false
    }
  }

  private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
    var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
    for row in rows {
      var scalars = row.unicodeScalars.makeIterator()
      guard let base = scalars.next() else { continue }
      while let letter = scalars.next() { letters[letter] = base }
    }
    return letters
  }()

  /// Letters, each followed by the characters whose canonical decomposition is that letter and marks of U+0300…U+036F.
  ///
  /// Generated from the decompositions of Unicode 14.0.0 for U+00C0…U+2FFF.
  private static let rows: [String] = [
    "AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶÅ", "BḂḄḆ", "CÇĆĈĊČḈ", "DĎḊḌḎḐḒ", "EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ", "FḞ", "GĜĞĠĢǦǴḠ",
    "HĤȞḢḤḦḨḪ", "IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ", "JĴ", "KĶǨḰḲḴ", "LĹĻĽḶḸḺḼ", "MḾṀṂ", "NÑŃŅŇǸṄṆṈṊ",
    "OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ", "PṔṖ", "RŔŖŘȐȒṘṚṜṞ", "SŚŜŞŠȘṠṢṤṦṨ", "TŢŤȚṪṬṮṰ",
    "UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ", "VṼṾ", "WŴẀẂẄẆẈ", "XẊẌ", "YÝŶŸȲẎỲỴỶỸ", "ZŹŻŽẐẒẔ",
    "aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ", "bḃḅḇ", "cçćĉċčḉ", "dďḋḍḏḑḓ", "eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ", "fḟ", "gĝğġģǧǵḡ",
    "hĥȟḣḥḧḩḫẖ", "iìíîïĩīĭįǐȉȋḭḯỉị", "jĵǰ", "kķǩḱḳḵ", "lĺļľḷḹḻḽ", "mḿṁṃ", "nñńņňǹṅṇṉṋ",
    "oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ", "pṕṗ", "rŕŗřȑȓṙṛṝṟ", "sśŝşšșṡṣṥṧṩ", "tţťțṫṭṯṱẗ",
    "uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự", "vṽṿ", "wŵẁẃẅẇẉẘ", "xẋẍ", "yýÿŷȳẏẙỳỵỷỹ", "zźżžẑẓẕ", "¨΅῁῭΅", "ÆǢǼ", "ØǾ",
    "æǣǽ", "øǿ", "ſẛ", "ƷǮ", "ʒǯ", "ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ", "ΕΈἘἙἚἛἜἝῈΈ", "ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ",
    "ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ", "ΟΌὈὉὊὋὌὍῸΌ", "ΡῬ", "ΥΎΫὙὛὝὟῨῩῪΎ", "ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼ", "αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ",
    "εέἐἑἒἓἔἕὲέ", "ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ", "ιΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ", "οόὀὁὂὃὄὅὸό", "ρῤῥ", "υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ",
    "ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ", "ϒϓϔ", "ІЇ", "АӐӒ", "ГЃ", "ЕЀЁӖ", "ЖӁӜ", "ЗӞ", "ИЍЙӢӤ", "КЌ", "ОӦ", "УЎӮӰӲ", "ЧӴ",
    "ЫӸ", "ЭӬ", "аӑӓ", "гѓ", "еѐёӗ", "жӂӝ", "зӟ", "ийѝӣӥ", "кќ", "оӧ", "уўӯӱӳ", "чӵ", "ыӹ", "эӭ", "ії", "ѴѶ", "ѵѷ",
    "ӘӚ", "әӛ", "ӨӪ", "өӫ", "᾿῍῎῏", "῾῝῞῟",
  ]
}

extension TextFolding {
  init(_ comparison: PredicateDescription.Comparison) {
    self.init(
      ignoresCase: comparison.isCaseInsensitive, ignoresDiacritics: comparison.isDiacriticInsensitive,
      ignoresSpelling: comparison.isNormalized)
  }
}

extension String {
  package var foldedCanonically: String { TextFolding.canonical.folded(self) }
}
