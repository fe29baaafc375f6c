import Heirloom

/// Generated Swift source with typed views of a model's objects.
struct TypedSource {
  enum Access: String, CaseIterable {
    case `public`, package, `internal`
  }

  let model: ManagedObjectModel
  let version: String
  let namespace: String
  let access: Access
  /// Objects are only read, as the source objects of a migration are.
  let isReadOnly: Bool
  /// Near the beginning; the command recognizes its own files by it.
  static let mark = "// Made by heirloom generate."
  /// Swift names by entity.
  private let entities: [String: String]

  init(model: ManagedObjectModel, version: String, namespace: String, access: Access, isReadOnly: Bool) {
    self.model = model
    self.version = version
    self.namespace = namespace
    self.access = access
    self.isReadOnly = isReadOnly
    entities = SwiftNames.assigned(to: model.entities.map(\.name))
  }

  func text() -> (source: String, notes: [String]) {
    var lines = SourceLines(access: access == .internal ? "" : "\(access.rawValue) ")
    var body = lines
    body.open("\(body.access)nonisolated enum \(SwiftNames.spelled(namespace)) {")
    for entity in model.entities { TypedEntity(self, entity).write(to: &body) }
    body.close()
    lines.add("\(Self.mark) Regenerate it instead of editing it.")
    lines.add("// swift-format-ignore-file")
    if !model.entities.isEmpty {
      lines.add("")
      // An import that no public declaration uses causes a warning.
      if model.entities.contains(where: { $0.attributes.contains(where: Self.needsFoundation) }) {
        lines.add("\(lines.access)import Foundation")
      }
      lines.add("\(lines.access)import Heirloom")
    }
    lines.add("")
    lines.comment("The entities of version \"\(version)\".")
    return (lines.text + body.text, body.notes)
  }

  func type(of entity: String) -> String { SwiftNames.spelled(entities[entity] ?? "") }

  var typeNames: Set<String> { Set(entities.values) }

  private static func needsFoundation(_ attribute: AttributeDescription) -> Bool {
    if let composite = attribute.composite { return composite.elements.contains(where: needsFoundation) }
    return ["Data", "Date", "Decimal", "URL", "UUID"].contains(type(of: attribute))
  }

  static func type(of attribute: AttributeDescription) -> String? {
    switch attribute.type {
    case .integer16: "Int16"
    case .integer32: "Int32"
    case .integer64: "Int64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Bool"
    case .date: "Date"
    case .binary, .transformable: "Data"
    case .uuid: "UUID"
    case .uri: "URL"
    case .undefined, .objectID, .composite: nil
    }
  }
}

struct SourceLines {
  /// With a space after it, or empty.
  let access: String
  private(set) var text = ""
  private(set) var notes: [String] = []
  private var indent = ""

  init(access: String) { self.access = access }

  mutating func add(_ line: String) { text += line.isEmpty ? "\n" : "\(indent)\(line)\n" }

  mutating func comment(_ sentence: String) { add("/// \(SwiftText.oneLine(sentence))") }

  mutating func leaveOut(_ what: String, of entity: String, _ reason: String) {
    add("// Left out: \(SwiftText.oneLine("\(what): \(reason)."))")
    notes.append("\"\(entity)\": \(what) is left out: \(reason).")
  }

  mutating func open(_ line: String) {
    add(line)
    indent += "  "
  }

  mutating func close() {
    outdent()
    add("}")
  }

  mutating func outdent() { indent.removeLast(2) }
}
