import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A reader of `contents` files that is no part of the product.
final class XMLModelReader: NSObject, XMLParserDelegate {
  static func model(at path: String) throws -> XMLModel {
    try model(Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent("contents")))
  }

  static func model(_ data: Data) throws -> XMLModel {
    let reader = XMLModelReader()
    let parser = XMLParser(data: data)
    parser.delegate = reader
    guard parser.parse(), parser.parserError == nil, reader.isComplete else {
      throw parser.parserError ?? CocoaError(.fileReadCorruptFile)
    }
    return XMLModel(identifier: reader.identifier, entities: reader.entities.map(reader.flattened))
  }

  private var identifier = ""
  private var entities: [XMLModel.Entity] = []
  private var composites: [String: [XMLModel.Attribute]] = [:]
  /// The names of composites that attributes are made of, by `Entity.attribute` or `composite.element`.
  private var uses: [String: String] = [:]
  private var composite: String?
  private var isComplete = false

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    let name = attributes["name"] ?? ""
    func isYes(_ key: String) -> Bool { attributes[key] == "YES" }
    switch element {
    case "model": identifier = attributes["userDefinedModelVersionIdentifier"] ?? ""
    case "entity":
      entities.append(
        XMLModel.Entity(
          name: name, identifier: attributes["elementID"] ?? name, parent: attributes["parentEntity"],
          isAbstract: isYes("isAbstract")))
    case "composite":
      composite = name
      composites[name] = []
    case "attribute":
      let attribute = XMLModel.Attribute(
        name: name, identifier: attributes["elementID"] ?? name, type: attributes["attributeType"] ?? "",
        isOptional: isYes("optional"), isTransient: isYes("transient"),
        isExternal: isYes("allowsExternalBinaryDataStorage"), isDerived: isYes("derived"),
        defaultValue: attributes["defaultValueString"] ?? attributes["defaultDateTimeInterval"])
      let owner = composite ?? entities.last?.name ?? ""
      if let used = attributes["composite"] { uses["\(owner).\(name)"] = used }
      if let composite {
        composites[composite]?.append(attribute)
      } else if !entities.isEmpty {
        entities[entities.count - 1].attributes.append(attribute)
      }
    case "constraint":
      if !entities.isEmpty, let value = attributes["value"] {
        entities[entities.count - 1].uniqueAttributes.append(value)
      }
    case "relationship":
      guard !entities.isEmpty else { return }
      let isToMany = isYes("toMany") || attributes["maxCount"] != "1"
      entities[entities.count - 1].relationships.append(
        XMLModel.Relationship(
          name: name, identifier: attributes["elementID"] ?? name, destination: attributes["destinationEntity"] ?? "",
          inverse: attributes["inverseName"], inverseEntity: attributes["inverseEntity"], isToMany: isToMany,
          isOrdered: isYes("ordered"), isOptional: isYes("optional"), isTransient: isYes("transient")))
    default: break
    }
  }

  func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
    if element == "composite" { composite = nil }
    if element == "model" { isComplete = true }
  }

  /// Replaces composite attributes by their leaves.
  private func flattened(_ entity: XMLModel.Entity) -> XMLModel.Entity {
    var entity = entity
    entity.attributes = entity.attributes.sorted { $0.name < $1.name }.flatMap { leaves(of: $0, in: entity.name) }
    return entity
  }

  private func leaves(of attribute: XMLModel.Attribute, in owner: String, depth: Int = 0) -> [XMLModel.Attribute] {
    guard attribute.type == "Composite", depth < 8 else { return [attribute] }
    let name = uses["\(owner).\(attribute.leaf)"] ?? ""
    return (composites[name] ?? []).flatMap { element in
      leaves(of: element, in: name, depth: depth + 1).map { leaf in
        var leaf = leaf
        leaf.name = "\(attribute.name).\(leaf.name)"
        leaf.identifier = "\(attribute.identifier).\(leaf.identifier)"
        leaf.isTransient = leaf.isTransient || attribute.isTransient
        leaf.isOptional = leaf.isOptional || attribute.isOptional
        return leaf
      }
    }
  }
}
