import HeirloomMapping
package import HeirloomModel

/// One difference between two models, with its effect on the rows of a store.
package struct ModelChange: Hashable, Sendable {
  /// The kind of change.
  package let kind: Kind
  /// The entity in the destination, or in the source if it is gone; `nil` for a change of the model as a whole.
  package let entity: String?
  /// The property in the destination, or in the source if it is gone; elements of composites as `composite.element`.
  ///
  /// For a change of the model, the name of the configuration or fetch request.
  package let property: String?
  /// The state in the source, in words; `nil` where there was nothing or the kind says it all.
  package let before: String?
  /// The state in the destination, in words; `nil` where there is nothing or the kind says it all.
  package let after: String?
  /// The effect of the change on rows.
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

  /// The same change without an effect, for two models that a store is compatible with.
  var withoutEffect: ModelChange {
    ModelChange(kind, entity: entity, property: property, before: before, after: after)
  }
}

extension ModelChange {
  /// The effect of a change on rows.
  package enum Effect: Hashable, Sendable {
    /// No rows affected.
    case nothing
    /// Values, links or objects that are carried over as they are.
    case kept
    /// Existing objects that have no value.
    case empty
    /// Existing objects that get the default for a missing value.
    case filled(AttributeValue)
    /// A value that is computed from others.
    case computed
    /// Values or links that are carried over in another form, which may lose information.
    case converted
    /// Values, links or objects that no longer have a place.
    case dropped
    /// A migration that runs only if the rows allow it; see `effects`.
    case rowsDecide
    /// A change for which no mapping is inferred; see `obstacles`.
    case refused

    /// A stable code.
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

  /// The kind of a change; raw values are stable codes, in the order in which changes of one property are listed.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    // The model.
    /// Other version identifiers, which are for information only.
    case versionIdentifiersChanged
    /// A new configuration.
    case configurationAdded
    /// A removed configuration.
    case configurationRemoved
    /// A configuration that holds other entities.
    case configurationChanged
    /// A new fetch request template.
    case fetchRequestAdded
    /// A removed fetch request template.
    case fetchRequestRemoved
    /// A fetch request template that fetches something else.
    case fetchRequestChanged
    // Entities.
    /// A new entity.
    case entityAdded
    /// A removed entity.
    case entityRemoved
    /// An entity with another name and the same identifier.
    case entityRenamed
    /// An entity with another parent, or one that has gained or lost a parent.
    case parentChanged
    /// An entity that can no longer have objects of its own.
    case becameAbstract
    /// An entity that can now have objects of its own.
    case becameConcrete
    /// A new uniqueness constraint.
    case constraintAdded
    /// A removed uniqueness constraint.
    case constraintRemoved
    /// A new index.
    case indexAdded
    /// A removed index.
    case indexRemoved
    /// An index that holds something else.
    case indexChanged
    /// Another class of the objects.
    case entityClassChanged
    /// Another expression for the name that Spotlight displays.
    case spotlightNameChanged
    /// Another way to generate code.
    case codeGenerationChanged
    // Attributes.
    /// A new attribute.
    case attributeAdded
    /// A removed attribute.
    case attributeRemoved
    /// An attribute with another name and the same identifier.
    case attributeRenamed
    /// An attribute that another entity of the hierarchy declares.
    case attributeMoved
    /// A relationship with the identifier of a removed attribute.
    case attributeBecameRelationship
    /// An attribute with another type.
    case typeChanged
    /// Another default for new objects.
    case defaultChanged
    /// Large values that may now be stored in files beside the store.
    case externalStorageEnabled
    /// Values that may no longer be stored in files beside the store.
    case externalStorageDisabled
    /// An attribute that is now computed.
    case derivationAdded
    /// An attribute that is no longer computed.
    case derivationRemoved
    /// An attribute that is computed by another expression.
    case derivationChanged
    /// A new element of a composite attribute.
    case elementAdded
    /// A removed element of a composite attribute.
    case elementRemoved
    /// An element of a composite attribute with another name and the same identifier.
    case elementRenamed
    /// Elements of a composite attribute that are declared in another order.
    case elementsReordered
    /// Another name of the composite type in the model source.
    case compositeTypeRenamed
    /// A value that persistent history now preserves for a deleted object, or no longer does.
    case historyPreservationChanged
    /// Another class of the values.
    case valueClassChanged
    /// Another value transformer for the values.
    case transformerChanged
    /// A value that is now encrypted in CloudKit, or no longer is.
    case cloudEncryptionChanged
    /// A value that is now written to an external record, or no longer is.
    case externalRecordChanged
    /// Generated code that now uses a scalar type, or no longer does.
    case scalarTypeChanged
    // Relationships.
    /// A new relationship.
    case relationshipAdded
    /// A removed relationship.
    case relationshipRemoved
    /// A relationship with another name and the same identifier.
    case relationshipRenamed
    /// A relationship that another entity of the hierarchy declares.
    case relationshipMoved
    /// An attribute with the identifier of a removed relationship.
    case relationshipBecameAttribute
    /// A relationship whose destination entity has another name.
    case destinationRenamed
    /// A relationship that refers to another entity.
    case destinationChanged
    /// A relationship that now has an inverse.
    case inverseAdded
    /// A relationship that no longer has an inverse.
    case inverseRemoved
    /// A relationship whose inverse has another name.
    case inverseRenamed
    /// A relationship with another inverse.
    case inverseChanged
    /// A relationship that now refers to several objects.
    case becameToMany
    /// A relationship that now refers to one object.
    case becameToOne
    /// Related objects that now have an order.
    case becameOrdered
    /// Related objects that no longer have an order.
    case becameUnordered
    /// Another minimum count of related objects.
    case minimumCountChanged
    /// Another maximum count of related objects.
    case maximumCountChanged
    /// Another effect on related objects when an object is deleted.
    case deleteRuleChanged
    // Attributes and relationships.
    /// A value that an object no longer needs to be valid.
    case becameOptional
    /// A value that an object now needs to be valid.
    case becameRequired
    /// A value that is no longer stored.
    case becameTransient
    /// A value that is now stored.
    case becamePersistent
    /// Other rules by which values are validated.
    case validationChanged
    // Fetched properties.
    /// A new fetched property.
    case fetchedPropertyAdded
    /// A removed fetched property.
    case fetchedPropertyRemoved
    /// A fetched property that fetches something else.
    case fetchedPropertyChanged
    // Entities and properties.
    /// Another version hash modifier.
    case hashModifierChanged
    /// Another renaming identifier, or one that was added or removed.
    case renamingIdentifierChanged
    /// A property that Spotlight now indexes, or no longer does.
    case spotlightIndexingChanged
    /// Other user info.
    case userInfoChanged
  }
}
