public import HeirloomModel

/// One thing that differs between two models, and what that does to the rows of a store.
public struct ModelChange: Hashable, Sendable {
  /// What changed.
  public let kind: Kind
  /// The entity in the destination, or in the source if it is gone; `nil` for a change of the model as a whole.
  public let entity: String?
  /// The property in the destination, or in the source if it is gone; elements of composites as `composite.element`.
  ///
  /// For a change of the model, the name of the configuration or fetch request.
  public let property: String?
  /// How it was, for a person; `nil` where there was nothing or the kind says it all.
  public let before: String?
  /// How it is, for a person; `nil` where there is nothing or the kind says it all.
  public let after: String?
  /// What the change does to rows.
  public let effect: Effect
  /// Whether the change makes the entity's version hash another, so that a store needs a migration.
  public let isHashed: Bool

  /// Creates a change.
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

  /// The change between two models that a store fits both.
  var withoutEffect: ModelChange {
    ModelChange(kind, entity: entity, property: property, before: before, after: after)
  }
}

extension ModelChange {
  /// What a change does to rows.
  @nonexhaustive
  public enum Effect: Hashable, Sendable {
    /// No row is concerned.
    case nothing
    /// Values, links or objects are carried over as they are.
    case kept
    /// Existing objects have no value.
    case empty
    /// Existing objects without a value get the default.
    case filled(AttributeValue)
    /// The value is computed from others.
    case computed
    /// Values or links are carried over in another form, which may hold less.
    case converted
    /// Values, links or objects have no place any more.
    case dropped
    /// The migration runs only if the rows allow it, as hazards tell.
    case rowsDecide
    /// No mapping is inferred, as obstacles tell.
    case refused

    /// A stable code.
    public var code: String {
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

  /// What changed; raw values are stable codes, in the order in which changes of one property are listed.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    // The model.
    /// The version identifiers differ; they are for information only.
    case versionIdentifiersChanged
    /// A configuration is new.
    case configurationAdded
    /// A configuration is gone.
    case configurationRemoved
    /// A configuration holds other entities.
    case configurationChanged
    /// A fetch request template is new.
    case fetchRequestAdded
    /// A fetch request template is gone.
    case fetchRequestRemoved
    /// A fetch request template fetches something else.
    case fetchRequestChanged
    // Entities.
    /// An entity is new.
    case entityAdded
    /// An entity is gone.
    case entityRemoved
    /// An entity has another name and the same identifier.
    case entityRenamed
    /// An entity has another parent, or has one now, or none.
    case parentChanged
    /// An entity can have no objects of its own any more.
    case becameAbstract
    /// An entity can have objects of its own now.
    case becameConcrete
    /// A uniqueness constraint is new.
    case constraintAdded
    /// A uniqueness constraint is gone.
    case constraintRemoved
    /// An index is new.
    case indexAdded
    /// An index is gone.
    case indexRemoved
    /// An index holds something else.
    case indexChanged
    /// The objects have another class.
    case entityClassChanged
    /// Spotlight names objects by another expression.
    case spotlightNameChanged
    /// Code is generated in another way.
    case codeGenerationChanged
    // Attributes.
    /// An attribute is new.
    case attributeAdded
    /// An attribute is gone.
    case attributeRemoved
    /// An attribute has another name and the same identifier.
    case attributeRenamed
    /// An attribute is declared by another entity of the hierarchy.
    case attributeMoved
    /// A relationship has the identifier of an attribute that is gone.
    case attributeBecameRelationship
    /// An attribute has another type.
    case typeChanged
    /// New objects get another default.
    case defaultChanged
    /// Large values may be kept in files beside the store now.
    case externalStorageEnabled
    /// Values may not be kept in files beside the store any more.
    case externalStorageDisabled
    /// An attribute is computed now.
    case derivationAdded
    /// An attribute is no longer computed.
    case derivationRemoved
    /// An attribute is computed by another expression.
    case derivationChanged
    /// An element of a composite attribute is new.
    case elementAdded
    /// An element of a composite attribute is gone.
    case elementRemoved
    /// An element of a composite attribute has another name and the same identifier.
    case elementRenamed
    /// The elements of a composite attribute are declared in another order.
    case elementsReordered
    /// The composite type has another name in the model source.
    case compositeTypeRenamed
    /// Persistent history keeps the value of a deleted object, or no longer does.
    case historyPreservationChanged
    /// The values have another class.
    case valueClassChanged
    /// The values are made by another value transformer.
    case transformerChanged
    /// The value is encrypted in CloudKit, or no longer is.
    case cloudEncryptionChanged
    /// The value is written to an external record, or no longer is.
    case externalRecordChanged
    /// Generated code uses a scalar type, or no longer does.
    case scalarTypeChanged
    // Relationships.
    /// A relationship is new.
    case relationshipAdded
    /// A relationship is gone.
    case relationshipRemoved
    /// A relationship has another name and the same identifier.
    case relationshipRenamed
    /// A relationship is declared by another entity of the hierarchy.
    case relationshipMoved
    /// An attribute has the identifier of a relationship that is gone.
    case relationshipBecameAttribute
    /// The entity that a relationship leads to has another name.
    case destinationRenamed
    /// A relationship leads to another entity.
    case destinationChanged
    /// A relationship has an inverse now.
    case inverseAdded
    /// A relationship has no inverse any more.
    case inverseRemoved
    /// The inverse of a relationship has another name.
    case inverseRenamed
    /// A relationship has another inverse.
    case inverseChanged
    /// A relationship leads to several objects now.
    case becameToMany
    /// A relationship leads to one object now.
    case becameToOne
    /// The related objects have an order now.
    case becameOrdered
    /// The related objects have no order any more.
    case becameUnordered
    /// Another number of related objects is the fewest.
    case minimumCountChanged
    /// Another number of related objects is the most.
    case maximumCountChanged
    /// Something else happens to related objects when an object is deleted.
    case deleteRuleChanged
    // Attributes and relationships.
    /// An object is valid without a value now.
    case becameOptional
    /// An object needs a value now.
    case becameRequired
    /// The value is no longer stored.
    case becameTransient
    /// The value is stored now.
    case becamePersistent
    /// Values are validated by other rules.
    case validationChanged
    // Fetched properties.
    /// A fetched property is new.
    case fetchedPropertyAdded
    /// A fetched property is gone.
    case fetchedPropertyRemoved
    /// A fetched property fetches something else.
    case fetchedPropertyChanged
    // Entities and properties.
    /// The text that changes the version hash on purpose is another.
    case hashModifierChanged
    /// The renaming identifier is another, or there is one now, or none.
    case renamingIdentifierChanged
    /// Spotlight indexes the property, or no longer does.
    case spotlightIndexingChanged
    /// The user info is another.
    case userInfoChanged
  }
}
