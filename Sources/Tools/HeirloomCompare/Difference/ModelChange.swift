import HeirloomMapping
package import HeirloomModel

package struct ModelChange: Hashable, Sendable {
  package let kind: Kind
  /// In the destination, or in the source if it is gone; `nil` for a change of the whole model.
  package let entity: String?
  /// In the destination, or in the source if it is gone; elements as `composite.element`.
  ///
  /// For a change of the model, the name of the configuration or fetch request.
  package let property: String?
  /// The state in the source, in words; `nil` where there was nothing or the kind says it all.
  package let before: String?
  package let after: String?
  package let effect: Effect
  /// True when the change alters the entity's version hash, so that a store needs a migration.
  package let isHashed: Bool

  init(
    _ kind: Kind, entity: String?, property: String? = nil, before: String? = nil, after: String? = nil,
    effect: Effect = .nothing, isHashed: Bool = false
  ) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.before = before
    self.after = after
    self.effect = effect
    self.isHashed = isHashed
  }

  /// For two models that a store is compatible with.
  var withoutEffect: ModelChange {
    ModelChange(kind, entity: entity, property: property, before: before, after: after)
  }
}

extension ModelChange {
  package enum Effect: Hashable, Sendable {
    case nothing
    case kept
    case empty
    case filled(AttributeValue)
    case computed
    /// Carried over in another form, which may lose information.
    case converted
    case dropped
    /// The migration runs only if the rows allow it; see `effects`.
    case rowsDecide
    /// No mapping is inferred; see `obstacles`.
    case refused

    /// Codes are stable.
    package var code: String {
      switch self {
      case .nothing: "nothing"
      case .kept: "kept"
      case .empty: "empty"
      case .filled: "filled"
      case .computed: "computed"
      case .converted: "converted"
      case .dropped: "dropped"
      case .rowsDecide: "rowsDecide"
      case .refused: "refused"
      }
    }
  }

  /// Raw values are stable codes, in the order in which changes of one property are listed.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    // The model.
    /// For information only.
    case versionIdentifiersChanged
    case configurationAdded
    case configurationRemoved
    case configurationChanged
    case fetchRequestAdded
    case fetchRequestRemoved
    case fetchRequestChanged
    // Entities.
    case entityAdded
    case entityRemoved
    case entityRenamed
    case parentChanged
    case becameAbstract
    case becameConcrete
    case constraintAdded
    case constraintRemoved
    case indexAdded
    case indexRemoved
    case indexChanged
    case entityClassChanged
    case spotlightNameChanged
    case codeGenerationChanged
    // Attributes.
    case attributeAdded
    case attributeRemoved
    case attributeRenamed
    /// Another entity of the hierarchy declares it.
    case attributeMoved
    /// A relationship has the identifier of a removed attribute.
    case attributeBecameRelationship
    case typeChanged
    case defaultChanged
    case externalStorageEnabled
    case externalStorageDisabled
    case derivationAdded
    case derivationRemoved
    case derivationChanged
    case elementAdded
    case elementRemoved
    case elementRenamed
    case elementsReordered
    /// In the model source.
    case compositeTypeRenamed
    case historyPreservationChanged
    case valueClassChanged
    case transformerChanged
    case cloudEncryptionChanged
    case externalRecordChanged
    case scalarTypeChanged
    // Relationships.
    case relationshipAdded
    case relationshipRemoved
    case relationshipRenamed
    case relationshipMoved
    /// An attribute has the identifier of a removed relationship.
    case relationshipBecameAttribute
    case destinationRenamed
    case destinationChanged
    case inverseAdded
    case inverseRemoved
    case inverseRenamed
    case inverseChanged
    case becameToMany
    case becameToOne
    case becameOrdered
    case becameUnordered
    case minimumCountChanged
    case maximumCountChanged
    case deleteRuleChanged
    // Attributes and relationships.
    case becameOptional
    case becameRequired
    case becameTransient
    case becamePersistent
    case validationChanged
    // Fetched properties.
    case fetchedPropertyAdded
    case fetchedPropertyRemoved
    case fetchedPropertyChanged
    // Entities and properties.
    case hashModifierChanged
    case renamingIdentifierChanged
    case spotlightIndexingChanged
    case userInfoChanged
  }
}
