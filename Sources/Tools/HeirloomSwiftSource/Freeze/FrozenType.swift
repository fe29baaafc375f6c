import HeirloomModel

struct FrozenType {
  struct Property {
    /// Such as `@Attribute(.unique)`; empty for none.
    var macro = ""
    var isConstant = false
    let name: String
    let type: String
    var value: String?
    /// A comment for the reader of the file.
    var remark: String?

    /// An initializer must set it.
    var isOpen: Bool { value == nil && (isConstant || !type.hasSuffix("?")) }

    var lines: [String] {
      let declaration = "\(isConstant ? "let" : "var") \(name): \(type)\(value.map { " = \($0)" } ?? "")"
      return (remark.map { ["// \($0)"] } ?? []) + [macro.isEmpty ? declaration : "\(macro) \(declaration)"]
    }
  }

  let name: String
  /// Before its opening brace, such as `enum State: String, Codable`.
  let head: String
  /// Of a model class, such as `#Index`; `nil` for another type.
  var macros: [String]?
  var cases: [String] = []
  var properties: [Property] = []
  var inner: [FrozenType] = []

  var lines: [String] {
    var parts = [macros ?? [], cases.map { "case \($0)" } + properties.flatMap(\.lines)] + inner.map(\.lines)
    if macros != nil { parts.append(initializer) }
    let body = parts.filter { !$0.isEmpty }.map { $0.map { $0.isEmpty ? "" : "  \($0)" } }.joined(separator: [""])
    return (macros == nil ? [] : ["@Model"]) + ["\(head) {"] + body + ["}"]
  }

  private var initializer: [String] {
    let open = properties.filter(\.isOpen)
    guard !open.isEmpty else { return ["init() {}"] }
    let parameters = open.map { "\($0.name): \($0.type)" }
    let line = "init(\(parameters.joined(separator: ", "))) {"
    let isLong = line.count > 110
    let head =
      isLong
      ? ["init("] + parameters.enumerated().map { "  \($1)\($0 < parameters.count - 1 ? "," : "")" } + [") {"] : [line]
    return head + open.map { "  self.\($0.name) = \($0.name)" } + ["}"]
  }
}

struct FrozenMacros {
  let model: ManagedObjectModel
  let entity: EntityDescription

  var ofClass: [String] {
    let attributes = Set(entity.attributes.map(\.name))
    let constraints = entity.uniquenessConstraints.filter { $0.count > 1 || !attributes.isSuperset(of: $0) }
    let indexes = entity.indexes.compactMap(\.plainProperties)
    return [("Unique", constraints), ("Index", indexes)].filter { !$0.1.isEmpty }.map { name, lists in
      let paths = lists.map { "[" + $0.map { "\\.\($0)" }.joined(separator: ", ") + "]" }
      return "#\(name)<\(entity.name)>(\(paths.joined(separator: ", ")))"
    }
  }

  func of(_ attribute: AttributeDescription, transformer: String?) -> String {
    var arguments: [String] = []
    if entity.uniquenessConstraints.contains([attribute.name]) { arguments.append(".unique") }
    if attribute.isTransient { arguments.append(".ephemeral") }
    if attribute.allowsExternalBinaryDataStorage { arguments.append(".externalStorage") }
    if attribute.isIndexedBySpotlight { arguments.append(".spotlight") }
    if attribute.allowsCloudEncryption { arguments.append(".allowsCloudEncryption") }
    if attribute.preservesValueInHistoryOnDeletion { arguments.append(".preserveValueOnDeletion") }
    if let transformer { arguments.append(transformer) }
    if let name = attribute.formerName { arguments.append("originalName: \(SwiftText.literal(name))") }
    return arguments.isEmpty ? "" : "@Attribute(\(arguments.joined(separator: ", ")))"
  }

  /// One of the two sides names the inverse, and a macro without one prevents inference.
  func of(_ relationship: RelationshipDescription) -> String {
    var arguments: [String] = []
    switch relationship.deleteRule {
    case .nullify: break
    case .cascade: arguments.append("deleteRule: .cascade")
    case .deny: arguments.append("deleteRule: .deny")
    case .noAction: arguments.append("deleteRule: .noAction")
    }
    if let name = relationship.formerName { arguments.append("originalName: \(SwiftText.literal(name))") }
    guard let inverse = relationship.inverseRelationship else {
      return arguments.isEmpty ? "@Relationship" : "@Relationship(\(arguments.joined(separator: ", ")))"
    }
    let target = relationship.destinationEntity
    let other = model.entities.first { $0.name == target }?.relationships.first { $0.name == inverse }
    if rank(relationship, of: entity.name) <= other.map({ rank($0, of: target) }) ?? (2, 0, "", "") {
      arguments.append("inverse: \\\(target).\(inverse)")
    }
    return arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", ")))"
  }

  /// Which side names the inverse: first by a delete rule other than nullify, then to-many before
  /// to-one.
  private func rank(_ relationship: RelationshipDescription, of entity: String) -> (Int, Int, String, String) {
    (relationship.deleteRule == .nullify ? 1 : 0, relationship.isToMany ? 0 : 1, entity, relationship.name)
  }

  static func type(of relationship: RelationshipDescription) -> String {
    let target = relationship.destinationEntity
    return (relationship.isToMany ? "[\(target)]" : target) + (relationship.isOptional ? "?" : "")
  }
}

extension PropertyDescription {
  /// In an earlier version; SwiftData gives other properties their own name as the renaming
  /// identifier.
  var formerName: String? { renamingIdentifier == name ? nil : renamingIdentifier }
}

extension FetchIndexDescription {
  /// `nil` for an index that `#Index` can't declare.
  var plainProperties: [String]? {
    guard partialIndexPredicate == nil else { return nil }
    var names: [String] = []
    for element in elements {
      guard case .property(let name) = element.subject, element.collation == .binary, element.isAscending else {
        return nil
      }
      names.append(name)
    }
    return names.isEmpty ? nil : names
  }
}
