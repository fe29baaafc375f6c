import Foundation
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ExpressionsCorpusTests {
  /// The XML attributes that hold format text, and whether it is a predicate.
  private static let attributes: [(name: String, isPredicate: Bool)] = [
    ("predicateString", true), ("partialIndexPredicate", true), ("filteringPredicate", true),
    ("derivationExpression", false), ("expression", false), ("coreSpotlightDisplayNameExpression", false),
  ]

  /// The texts of all models, found by a plain scan.
  private static let modelTexts: [(text: String, isPredicate: Bool)] = attributes.flatMap { attribute in
    values(of: attribute.name).map { ($0, attribute.isPredicate) }
  }

  private static let models: [Data] = Corpus.modelPaths.compactMap {
    try? Data(contentsOf: Corpus.folder.appendingPathComponent($0 + "/contents"))
  }

  /// Returns the values of an XML attribute in all models.
  private static func values(of attribute: String) -> [String] {
    let marker = Data((" " + attribute + "=\"").utf8)
    // Most models have none, so bytes are searched before strings are made.
    return models.filter { $0.range(of: marker) != nil }.flatMap { model in
      String(decoding: model, as: UTF8.self).components(separatedBy: " " + attribute + "=\"").dropFirst()
        .map { decoded(String($0.prefix { $0 != "\"" })) }
    }
  }

  /// The key paths of all mapping models in XML.
  private static let mappingKeyPaths: [String] = {
    guard let paths = FileManager.default.enumerator(atPath: Corpus.folder.path) else { return [] }
    var found: [String] = []
    for case let path as String in paths where path.hasSuffix("/xcmapping.xml") {
      guard let xml = try? String(contentsOf: Corpus.folder.appendingPathComponent(path), encoding: .utf8) else {
        continue
      }
      for rest in xml.components(separatedBy: "name=\"sourcekeypath\" type=\"string\">").dropFirst() {
        found.append(decoded(String(rest.prefix { $0 != "<" })))
      }
    }
    return found
  }()

  private static func decoded(_ text: String) -> String {
    text.replacing("&quot;", with: "\"").replacing("&apos;", with: "'").replacing("&#39;", with: "'")
      .replacing("&#10;", with: "\n").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&amp;", with: "&")
  }

  @Test func `parses every text of the models`() throws {
    #expect(!Self.modelTexts.isEmpty)
    for (text, isPredicate) in Self.modelTexts {
      if isPredicate {
        let predicate = try PredicateDescription(parsing: text)
        #expect(try PredicateDescription(parsing: predicate.predicateFormat) == predicate, "\(text)")
      } else {
        let expression = try ValueExpression(parsing: text)
        #expect(try ValueExpression(parsing: expression.predicateFormat) == expression, "\(text)")
      }
    }
  }

  @Test func `parses every key path of the mapping models`() throws {
    #expect(!Self.mappingKeyPaths.isEmpty)
    for text in Self.mappingKeyPaths {
      let expression = try ValueExpression(parsing: text)
      #expect(expression.predicateFormat == text)
      try ExpressionEvaluator(variables: ["source": .null]).check(expression)
    }
  }

  /// Tries the only regular expression in the corpus, a mail address.
  @Test func `understands the regular expressions of the models`() throws {
    let patterns = Self.values(of: "regularExpressionString")
    #expect(!patterns.isEmpty)
    for pattern in patterns {
      let rule = PredicateDescription.comparison(
        .init(left: .evaluatedObject, comparator: .matches, right: .constant(.value(.string(pattern)))))
      let oracle = try NSRegularExpression(pattern: "^(?:" + pattern + ")$")
      for text in ["a@b.c", "a@b", "@b.c", "a@b.c.d", "a b@c.d", "a@b..c", "", "é@ü.de", "a@@b.c"] {
        let expected = oracle.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        #expect(try ExpressionEvaluator().evaluate(rule, on: .string(text)) == expected, "\(text)")
      }
    }
  }
}
