import Heirloom

struct TypedComposite {
  let type: String
  private let entity: String
  private let path: String
  private let elements: [Element]
  private let leftOut: [AttributeDescription]

  private struct Element {
    let attribute: AttributeDescription
    let name: String
    let type: String
    let composite: TypedComposite?

    var fullType: String { type + (attribute.isOptional ? "?" : "") }
  }

  /// Names of the types declared here are added to `taken`.
  init(_ name: String, _ elements: [AttributeDescription], entity: String, path: String, _ taken: inout Set<String>) {
    let wanted = name.prefix(1).uppercased() + name.dropFirst() + "Value"
    type = SwiftNames.assigned(to: [wanted], taken: taken)[wanted] ?? wanted
    taken.insert(type)
    self.entity = entity
    self.path = path
    let names = SwiftNames.assigned(to: elements.map(\.name))
    var around = taken.union(names.values)
    var known: [Element] = []
    leftOut = elements.filter { $0.derivation != nil || $0.composite == nil && TypedSource.type(of: $0) == nil }
    for attribute in elements where attribute.derivation == nil {
      let name = names[attribute.name] ?? ""
      let composite = attribute.composite.map {
        TypedComposite(name, $0.elements, entity: entity, path: "\(path).\(attribute.name)", &around)
      }
      guard let type = composite?.type ?? TypedSource.type(of: attribute) else { continue }
      known.append(Element(attribute: attribute, name: name, type: type, composite: composite))
    }
    self.elements = known
  }

  func write(to lines: inout SourceLines) {
    let access = lines.access
    lines.comment("A value of the composite attribute \"\(path)\".")
    lines.open("\(access)nonisolated struct \(type): TypedValue {")
    var paths = TypedPaths()
    for element in elements {
      if let composite = element.composite {
        composite.write(to: &lines)
        lines.add("")
      }
      let words = element.attribute.type.name + (element.attribute.isOptional ? ", optional" : "")
      lines.comment("The element \"\(element.attribute.name)\" (\(words)).")
      lines.add("\(access)var \(SwiftNames.spelled(element.name)): \(element.fullType)")
      let step: TypedPaths.Step = element.composite == nil ? .attribute(element.type) : .nested(element.type)
      paths.add(element.name, element.attribute.name, step, isStored: !element.attribute.isTransient)
    }
    for attribute in leftOut {
      lines.leaveOut(
        "the element \"\(path).\(attribute.name)\"", of: entity,
        attribute.derivation == nil
          ? "its type, \(attribute.type.name), has none in Swift" : "it is computed")
    }
    lines.add("")
    initializers(to: &lines)
    lines.add("")
    paths.write(to: &lines)
    lines.close()
  }

  private func initializers(to lines: inout SourceLines) {
    let access = lines.access
    let parameters = elements.enumerated().map { index, element in
      // A parameter with the same name as its label is written once.
      let name = element.name == "e\(index)" ? element.name : "\(SwiftNames.spelled(element.name)) e\(index)"
      return "\(name): \(element.fullType)" + (element.attribute.isOptional ? " = nil" : "")
    }
    lines.comment("Creates a value of its elements.")
    lines.open("\(access)init(\(parameters.joined(separator: ", "))) {")
    for (index, element) in elements.enumerated() { lines.add("self.\(SwiftNames.spelled(element.name)) = e\(index)") }
    lines.close()
    lines.add("")
    lines.comment("Creates a value of an attribute's; `nil` if an element is missing or of another type.")
    lines.open("\(access)init?(attributeValue: AttributeValue?) {")
    let conditions = elements.enumerated().map { index, element in
      "let e\(index): \(element.fullType) = attributeValue.element(\(SwiftText.literal(element.attribute.name)))"
    }
    let all = ["let attributeValue"] + conditions
    lines.open("guard")
    for (index, condition) in all.enumerated() { lines.add(condition + (index < all.count - 1 ? "," : "")) }
    lines.outdent()
    lines.add("else { return nil }")
    for (index, element) in elements.enumerated() { lines.add("self.\(SwiftNames.spelled(element.name)) = e\(index)") }
    lines.close()
    lines.add("")
    lines.comment("The value as an attribute holds it.")
    lines.open("\(access)var attributeValue: AttributeValue? {")
    lines.add("var elements: [String: AttributeValue] = [:]")
    for element in elements {
      let literal = SwiftText.literal(element.attribute.name)
      lines.add("elements[\(literal)] = self.\(SwiftNames.spelled(element.name)).attributeValue")
    }
    lines.add("return .composite(elements)")
    lines.close()
  }
}
