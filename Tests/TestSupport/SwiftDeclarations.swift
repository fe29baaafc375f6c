import Foundation
import Testing

/// The declarations behind a SwiftData store, which the corpus has as JSON, as Swift source.
package struct SwiftDeclarations {
  /// A file of the corpus; the hashes are from its store or from a published list.
  package struct Case: CustomTestStringConvertible, Sendable {
    package let file: String
    package let hashes: [String: String]
    package let isNegative: Bool

    package var testDescription: String { file }
  }

  package let source: String
  package let roots: [String]

  package static let all: [Case] = {
    guard Corpus.isPresent else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path)) ?? []
    return names.filter { $0.hasSuffix("-swiftdata") }.sorted().flatMap { project in
      let facts = (try? object(project + "/FACTS.json")) as? [String: Any] ?? [:]
      let lists = ["stores", "hash_lists", "declarations"].flatMap { facts[$0] as? [[String: Any]] ?? [] }
      return lists.compactMap { item -> Case? in
        guard let hashes = item["hashes"] as? [String: String] else { return nil }
        let path =
          item["declarations"] as? String ?? (item["path"] as? String).flatMap { $0.hasSuffix(".json") ? $0 : nil }
        guard let path else { return nil }
        let told = item["hashes_from_declarations"] as? String ?? ""
        return Case(file: project + "/" + path, hashes: hashes, isNegative: told.hasPrefix("0/"))
      }
    }
  }()

  private static func object(_ path: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(contentsOf: Corpus.folder.appendingPathComponent(path)))
  }

  package init(_ file: String) throws {
    let object = try #require(try Self.object(file) as? [String: Any])
    roots = try #require(object["roots"] as? [String])
    let types = try #require(object["types"] as? [[String: Any]])
    var text = "import SwiftData\n\n"
    let names = Set(types.compactMap { $0["qualified"] as? String })
    var outer: Set<String> = []
    for type in types {
      let path = try #require(type["qualified"] as? String).split(separator: ".").map(String.init)
      let around = path.dropLast().joined(separator: ".")
      if !around.isEmpty, !names.contains(around), outer.insert(around).inserted { text += "enum \(around) {}\n" }
      let printed = try Self.text(type)
      text += around.isEmpty ? printed : "extension \(around) {\n\(printed)}\n"
    }
    for (alias, target) in object["aliases"] as? [String: String] ?? [:] { text += "typealias \(alias) = \(target)\n" }
    source = text
  }

  private static func text(_ type: [String: Any]) throws -> String {
    let name = try #require(type["name"] as? String)
    let kind = try #require(type["kind"] as? String)
    let isModel = type["model"] as? Bool ?? false
    var inherited = type["raw"].map { "\($0), " } ?? ""
    inherited = isModel ? "" : ": \(inherited)Codable"
    var text = "\(isModel ? "@Model\nfinal " : "")\(kind) \(name)\(inherited) {\n"
    func paths(_ value: Any?) -> String {
      (value as? [[String]] ?? []).map { "[" + $0.map { "\\.\($0)" }.joined(separator: ", ") + "]" }.joined(
        separator: ", ")
    }
    if type["unique"] != nil { text += "  #Unique<\(name)>(\(paths(type["unique"])))\n" }
    if type["index"] != nil { text += "  #Index<\(name)>(\(paths(type["index"])))\n" }
    for item in type["cases"] as? [[String: Any]] ?? [] {
      text += "  case \(item["name"] ?? "")\(item["associated"].map { "(\($0))" } ?? "")\n"
    }
    for property in type["properties"] as? [[String: Any]] ?? [] { text += "  " + Self.property(property) + "\n" }
    return text + (isModel ? "\n  init() { let local = 1; _ = local }\n" : "") + "}\n"
  }

  private static func property(_ property: [String: Any]) -> String {
    var text = ""
    if property["transient"] != nil { text += "@Transient " }
    if let attribute = property["attribute"] as? [String: Any] {
      var arguments = (attribute["options"] as? [String] ?? []).map { ".\($0)" }
      if let transformer = attribute["transformable"] { arguments.append(".transformable(by: \(transformer).self)") }
      text += "@Attribute(\(arguments.joined(separator: ", "))) "
    }
    if let relationship = property["relationship"] as? [String: Any] {
      var arguments: [String] = []
      if let rule = relationship["deleteRule"] { arguments.append("deleteRule: .\(rule)") }
      if let inverse = relationship["inverse"] { arguments.append("inverse: \\\(inverse)") }
      text += "@Relationship" + (arguments.isEmpty ? " " : "(\(arguments.joined(separator: ", "))) ")
    }
    for modifier in property["modifiers"] as? [String] ?? [] { text += modifier + " " }
    text += "\(property["let"] == nil ? "var" : "let") \(property["name"] ?? "")"
    let type = property["type"] as? String ?? ""
    if property["typeInferred"] == nil { text += ": \(type)" }
    if property["computed"] != nil { return text + " { fatalError(\"}\") }" }
    guard let value = property["default"] as? [String: Any] else { return text }
    switch value["literal"] {
    case let string as String: text += " = \"\(string)\""
    case let list as [Any] where list.isEmpty: text += " = []"
    case let number as NSNumber where type.hasPrefix("Bool"): text += " = \(number.boolValue)"
    case let number as NSNumber: text += " = \(number)"
    default: text += " = \(type)()"
    }
    return text
  }
}
