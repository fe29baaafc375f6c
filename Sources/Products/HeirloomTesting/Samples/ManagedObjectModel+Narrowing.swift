package import HeirloomMapping
package import HeirloomModel

extension ManagedObjectModel {
  /// Adds rules that exclude the rows that would block a migration.
  ///
  /// An entity becomes abstract if each of its objects would block the migration. Throws
  /// ``ModelError`` if the rules contradict the model.
  package func narrowed(by effects: [DataEffect]) throws(ModelError) -> ManagedObjectModel {
    var entities = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for effect in effects where effect.kind.severity == .blocker {
      for rows in effect.rows {
        let sources = rows.properties
        switch effect.kind {
        case .missingValue, .overflow:
          guard let path = sources.first ?? nil else {
            entities[rows.entity]?.isAbstract = true
            continue
          }
          change(path, of: rows.entity, in: &entities) { attribute in
            if case .overflow(_, let type) = effect.kind {
              if let rule = type.rangeRule { attribute.validationRules.append(rule) }
            } else {
              attribute.isOptional = false
            }
          }
        case .missingLink:
          guard let name = sources.first ?? nil, let owner = declaringEntity(ofProperty: name, in: rows.entity)?.name,
            let index = entities[owner]?.relationships.firstIndex(where: { $0.name == name })
          else {
            entities[rows.entity]?.isAbstract = true
            continue
          }
          entities[owner]?.relationships[index].isOptional = false
        case .duplicate:
          let names = sources.compactMap {
            $0?.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init)
          }
          // A new property has one value in all rows, so only the others can make rows unique.
          if names.isEmpty {
            entities[rows.entity]?.isAbstract = true
          } else if entities[rows.entity]?.uniquenessConstraints.contains(names) == false {
            entities[rows.entity]?.uniquenessConstraints.append(names)
          }
        case .uninstantiable: entities[rows.entity]?.isAbstract = true
        default: break
        }
      }
    }
    return try ManagedObjectModel(
      entities: Array(entities.values), versionIdentifiers: versionIdentifiers, configurations: configurations,
      fetchRequestTemplates: fetchRequestTemplates)
  }

  private func change(
    _ path: String, of entity: String, in entities: inout [String: EntityDescription],
    _ body: (inout AttributeDescription) -> Void
  ) {
    let names = path.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    guard let first = names.first, let owner = declaringEntity(ofProperty: first, in: entity)?.name,
      var description = entities[owner], let index = description.attributes.firstIndex(where: { $0.name == first })
    else { return }
    description.attributes[index].change(names.dropFirst(), body)
    entities[owner] = description
  }
}

extension AttributeDescription {
  fileprivate mutating func change(_ path: ArraySlice<String>, _ body: (inout AttributeDescription) -> Void) {
    // A required element makes the whole composite required.
    if let name = path.first, let index = composite?.elements.firstIndex(where: { $0.name == name }) {
      composite?.elements[index].change(path.dropFirst(), body)
      if composite?.elements[index].isOptional == false { isOptional = false }
    } else {
      body(&self)
    }
  }
}

extension AttributeType {
  fileprivate var rangeRule: ValidationRule? {
    let limit: Double
    switch self {
    case .integer16: limit = 32_767
    case .integer32: limit = 2_147_483_647
    case .integer64: limit = 9.2e18
    case .float: limit = 3.4e38
    default: return nil
    }
    func comparison(_ comparator: PredicateDescription.Comparator, _ value: Double) -> PredicateDescription {
      .comparison(.init(left: .evaluatedObject, comparator: comparator, right: .constant(.value(.double(value)))))
    }
    return ValidationRule(
      predicate: .and([comparison(.greaterThanOrEqual, -limit), comparison(.lessThanOrEqual, limit)]))
  }
}
