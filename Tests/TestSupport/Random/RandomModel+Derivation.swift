package import Foundation
import HeirloomModel
import HeirloomStore

extension RandomModel {
  package func derived(_ contents: StoreContents) -> StoreContents {
    var result = contents
    for entity in entities where !entity.description.isAbstract {
      let name = entity.description.name
      for (key, object) in contents.objects[name] ?? [:] {
        for attribute in attributes(of: entity.origin) where !attribute.description.isTransient {
          guard let derivation = attribute.derivation else { continue }
          result.objects[name]?[key]?.values[attribute.description.name] = RowOracle.normal(
            value(derivation, of: object, in: contents), attribute.description.type)
        }
      }
    }
    return result
  }

  private func value(
    _ derivation: Derivation, of object: StoreContents.StoredObject, in contents: StoreContents
  ) -> SQLiteValue {
    func text(_ key: Int, _ change: (String) -> String) -> SQLiteValue {
      guard let name = attribute(key)?.attribute.description.name, let text = object.values[name]?.text else {
        return .null
      }
      return .text(change(text))
    }
    func values(_ relationship: Int, _ attribute: Int) -> [SQLiteValue] {
      guard let link = self.relationship(relationship)?.relationship,
        let name = self.attribute(attribute)?.attribute.description.name
      else { return [] }
      return (object.links[link.description.name] ?? []).map { key in
        tree(of: link.destination).lazy.compactMap { contents.objects[$0.description.name]?[key]?.values[name] }.first
          ?? .null
      }
    }
    switch derivation {
    case .canonical(let key):
      return text(key) { $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }
    case .uppercase(let key): return text(key) { $0.uppercased() }
    case .lowercase(let key): return text(key) { $0.lowercased() }
    case .count(let key):
      let name = relationship(key)?.relationship.description.name ?? ""
      return .integer(Int64(object.links[name]?.count ?? 0))
    case .related(let link, let attribute): return values(link, attribute).first ?? .null
    case .sum(let link, let attribute): return .integer(values(link, attribute).compactMap(\.integer).reduce(0, +))
    case .maximum(let link, let attribute):
      return values(link, attribute).compactMap(\.integer).max().map { .integer($0) } ?? .null
    }
  }

  /// For a store that was made without regard to derived attributes.
  package func deriveValues(inStoreAt url: URL) throws {
    let model = try model()
    let contents = derived(RowOracle.normal(try StoreContents(of: url, model: model), model))
    let schema = PhysicalSchema(model: model)
    let connection = try Connection(path: url.path, mode: .readWrite, options: .inspecting)
    try connection.registerCoreDataFunctions()
    for entity in entities {
      let name = entity.description.name
      for attribute in attributes(of: entity.origin) where attribute.derivation != nil {
        guard let column = schema.column(atPath: [attribute.description.name], in: name) else { continue }
        for (key, object) in contents.objects[name] ?? [:] {
          try connection.execute(
            "UPDATE \(quote(column.table)) SET \(quote(column.name)) = ?2 WHERE Z_PK = ?1",
            [.integer(key), object.values[attribute.description.name] ?? .null])
        }
      }
    }
    try connection.close()
  }
}
