import HeirloomMapping
import HeirloomModel

extension ModelChange: CustomStringConvertible {
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let words = sentence
    return effect == .nothing ? "\(subject): \(words)." : "\(subject): \(words); \(effect.sentence)."
  }

  package var subject: String {
    switch (entity, property) {
    case (let entity?, let property?): "\(entity).\(property)"
    case (let entity?, nil): entity
    case (nil, let name?): name
    case (nil, nil): "model"
    }
  }

  /// Without the subject and a full stop.
  package var sentence: String {
    switch kind {
    case .versionIdentifiersChanged: "version identifiers\(fromTo)"
    case .configurationAdded: "new configuration\(with)"
    case .configurationRemoved: "configuration removed"
    case .configurationChanged: "entities of the configuration changed\(fromTo)"
    case .fetchRequestAdded: "new fetch request"
    case .fetchRequestRemoved: "fetch request removed"
    case .fetchRequestChanged: "fetch request changed"
    case .entityAdded: "new entity"
    case .entityRemoved: "entity removed"
    case .entityRenamed, .attributeRenamed, .relationshipRenamed, .elementRenamed: "renamed from \(quoted(before))"
    case .parentChanged: "parent entity changed\(fromTo)"
    case .becameAbstract: "entity became abstract"
    case .becameConcrete: "entity is no longer abstract"
    case .constraintAdded: "values of \(after ?? "") must be unique"
    case .constraintRemoved: "values of \(before ?? "") need no longer be unique"
    case .indexAdded: "new index \(quoted(after))"
    case .indexRemoved: "index \(quoted(before)) removed"
    case .indexChanged: "index \(quoted(after)) changed"
    case .entityClassChanged, .valueClassChanged: "class changed\(fromTo)"
    case .spotlightNameChanged: "display name in Spotlight changed"
    case .codeGenerationChanged: "code generation changed\(fromTo)"
    case .hashModifierChanged: "version hash modifier changed\(fromTo)"
    case .renamingIdentifierChanged: "renaming identifier changed\(fromTo)"
    case .spotlightIndexingChanged: "Spotlight indexing turned \(after ?? "")"
    case .userInfoChanged: "user info changed"
    default: propertySentence
    }
  }

  private var propertySentence: String {
    switch kind {
    case .attributeAdded: "new attribute\(with)"
    case .attributeRemoved: "attribute removed"
    case .attributeMoved: "attribute moved here from \(before ?? "")"
    case .attributeBecameRelationship: "the attribute became a relationship"
    case .typeChanged: "type changed\(fromTo)"
    case .defaultChanged: "default changed\(fromTo)"
    case .externalStorageEnabled: "external storage turned on"
    case .externalStorageDisabled: "external storage turned off"
    case .derivationAdded: "became derived\(with)"
    case .derivationRemoved: "is no longer derived"
    case .derivationChanged: "derivation changed\(fromTo)"
    case .elementAdded: "new element\(with)"
    case .elementRemoved: "element removed"
    case .elementsReordered: "elements reordered"
    case .compositeTypeRenamed: "composite type renamed\(fromTo)"
    case .historyPreservationChanged: "preservation in history turned \(after ?? "")"
    case .transformerChanged: "value transformer changed\(fromTo)"
    case .cloudEncryptionChanged: "encryption in CloudKit turned \(after ?? "")"
    case .externalRecordChanged: "external record turned \(after ?? "")"
    case .scalarTypeChanged: "scalar type in generated code turned \(after ?? "")"
    case .relationshipAdded: "new relationship\(with)"
    case .relationshipRemoved: "relationship removed"
    case .relationshipMoved: "relationship moved here from \(before ?? "")"
    case .relationshipBecameAttribute: "the relationship became an attribute"
    case .destinationRenamed: "its destination was renamed\(fromTo)"
    case .destinationChanged: "destination entity changed\(fromTo)"
    case .inverseAdded: "inverse added\(with)"
    case .inverseRemoved: "inverse \(quoted(before)) removed"
    case .inverseRenamed: "its inverse was renamed\(fromTo)"
    case .inverseChanged: "inverse changed\(fromTo)"
    case .becameToMany: "became to-many"
    case .becameToOne: "became to-one"
    case .becameOrdered: "became ordered"
    case .becameUnordered: "lost its order"
    case .minimumCountChanged: "minimum count changed\(fromTo)"
    case .maximumCountChanged: "maximum count changed\(fromTo)"
    case .deleteRuleChanged: "delete rule changed\(fromTo)"
    case .becameOptional: "became optional"
    case .becameRequired: "became required"
    case .becameTransient: "became transient"
    case .becamePersistent: "is no longer transient"
    case .validationChanged: "validation changed"
    case .fetchedPropertyAdded: "new fetched property"
    case .fetchedPropertyRemoved: "fetched property removed"
    case .fetchedPropertyChanged: "fetched property changed"
    default: kind.rawValue
    }
  }

  private var fromTo: String {
    switch (before, after) {
    case (let before?, let after?): " from \(before) to \(after)"
    case (nil, let after?): " to \(after)"
    case (let before?, nil): ", was \(before)"
    case (nil, nil): ""
    }
  }

  private var with: String { after.map { " (\($0))" } ?? "" }

  private func quoted(_ name: String?) -> String { "\"\(name ?? "")\"" }
}

extension ModelChange.Effect {
  /// Without a subject and a full stop.
  package var sentence: String {
    switch self {
    case .nothing: "no row is concerned"
    case .kept: "everything is kept"
    case .empty: "existing objects have no value"
    case .filled(let value): "existing objects without a value get \(value)"
    case .computed: "the value is computed"
    case .converted: "content is converted"
    case .dropped: "content is dropped"
    case .rowsDecide: "possible only if the rows allow it"
    case .refused: "no mapping can be inferred"
    }
  }
}
