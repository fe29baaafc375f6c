import HeirloomModel

extension ManagedObjectModel {
  /// Uses every feature of models at least once.
  static func everything() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [.document, .note, .tag], versionIdentifiers: ["2.0", ""],
      configurations: [ConfigurationDescription(name: "Cloud", entityNames: ["Tag", "Note"])],
      fetchRequestTemplates: [.recentNotes, FetchRequestDescription(name: "all", entityName: "Document")])
  }
}

extension EntityDescription {
  fileprivate static var document: EntityDescription {
    var entity = EntityDescription(name: "Document")
    entity.isAbstract = true
    entity.attributes = [.title, .size, .price, .created, .identifier, .link, .cover, .address]
    entity.uniquenessConstraints = [["identifier"], ["title", "created"]]
    entity.indexes = [
      FetchIndexDescription(
        name: "byTitle",
        elements: [
          FetchIndexElementDescription(subject: .property("title"), isAscending: false),
          FetchIndexElementDescription(property: "created"),
        ],
        partialIndexPredicate: .comparison(
          .init(left: .keyPath("size"), comparator: .greaterThan, right: .constant(.value(.integer(0)))))),
      FetchIndexDescription(
        name: "byPlace",
        elements: [
          FetchIndexElementDescription(subject: .property("size"), collation: .rTree),
          FetchIndexElementDescription(
            subject: .expression(
              .function(operand: nil, selector: "canonical:", arguments: [.keyPath("title")]), .string)),
        ]),
    ]
    entity.userInfo = ["owner": "\"Grüße\"\n\u{1}", "colour": "red"]
    return entity
  }

  fileprivate static var note: EntityDescription {
    var entity = EntityDescription(name: "Note")
    entity.superentity = "Document"
    entity.managedObjectClassName = ".JournalNote"
    entity.renamingIdentifier = "Record"
    entity.versionHashModifier = "2"
    entity.codeGenerationType = "category"
    entity.coreSpotlightDisplayNameExpression = .keyPath("title")
    entity.attributes = [.tagCount, .scratch]
    var tags = RelationshipDescription(name: "tags", destinationEntity: "Tag")
    tags.inverseRelationship = "notes"
    tags.maxCount = 0
    tags.isOptional = true
    tags.isOrdered = true
    tags.renamingIdentifier = "labels"
    tags.versionHashModifier = "1"
    tags.userInfo = ["k": "v"]
    tags.validationRules = [
      ValidationRule(
        predicate: .not(
          .or([
            .alwaysFalse,
            .comparison(
              .init(
                left: .keyPath("@count"), comparator: .equal, right: .constant(.null), modifier: .any,
                isCaseInsensitive: true, isDiacriticInsensitive: true, isNormalized: true)),
          ])), warning: .message("too few"))
    ]
    var parent = RelationshipDescription(name: "parent", destinationEntity: "Document")
    parent.minCount = 1
    parent.deleteRule = .deny
    parent.isIndexedBySpotlight = true
    var previews = RelationshipDescription(name: "previews", destinationEntity: "Note")
    previews.isTransient = true
    previews.maxCount = 9
    previews.deleteRule = .cascade
    entity.relationships = [tags, parent, previews]
    var similar = FetchedPropertyDescription(name: "similar", fetchRequest: .recentNotes)
    similar.isOptional = false
    similar.isIndexedBySpotlight = true
    similar.renamingIdentifier = "alike"
    similar.versionHashModifier = "x"
    similar.userInfo = ["k": "v"]
    entity.fetchedProperties = [similar]
    return entity
  }

  fileprivate static var tag: EntityDescription {
    var entity = EntityDescription(name: "Tag")
    var notes = RelationshipDescription(name: "notes", destinationEntity: "Note")
    notes.inverseRelationship = "tags"
    notes.maxCount = -1
    notes.deleteRule = .noAction
    entity.relationships = [notes]
    return entity
  }
}

extension AttributeDescription {
  private static func make(
    _ name: String, _ type: AttributeType, _ change: (inout AttributeDescription) -> Void
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    change(&attribute)
    return attribute
  }

  fileprivate static var title: AttributeDescription {
    make("title", .string) {
      $0.defaultValue = .string("")
      $0.renamingIdentifier = "name"
      $0.versionHashModifier = "v"
      $0.isIndexedBySpotlight = true
      $0.isStoredInExternalRecord = true
      $0.preservesValueInHistoryOnDeletion = true
      $0.allowsCloudEncryption = true
      $0.userInfo = ["k": "v"]
      $0.validationRules = [
        ValidationRule(
          predicate: .comparison(
            .init(left: .keyPath("length"), comparator: .lessThanOrEqual, right: .constant(.value(.integer(80))))),
          warning: .code(1660)),
        ValidationRule(
          predicate: .and([
            .alwaysTrue, .unparsed("SELF LIKES nothing"),
            .comparison(
              .init(
                left: .evaluatedObject, comparator: .in,
                right: .aggregate([.constant(.value(.string("a"))), .variable("ROOT"), .unparsed("???")]))),
          ])),
      ]
    }
  }

  fileprivate static var size: AttributeDescription {
    make("size", .integer64) {
      $0.defaultValue = .integer(.min)
      $0.isOptional = true
      $0.usesScalarValueType = true
    }
  }

  fileprivate static var price: AttributeDescription {
    make("price", .decimal) { $0.defaultValue = .decimal("-12.5") }
  }

  fileprivate static var created: AttributeDescription {
    make("created", .date) { $0.defaultValue = .date(-0.1) }
  }

  fileprivate static var identifier: AttributeDescription {
    make("identifier", .uuid) {
      $0.defaultValue = .uuid(Array(240...255))
      $0.usesScalarValueType = false
    }
  }

  fileprivate static var link: AttributeDescription {
    make("link", .uri) { $0.defaultValue = .uri("https://example.com/?a=b&c") }
  }

  fileprivate static var cover: AttributeDescription {
    make("cover", .transformable) {
      $0.defaultValue = .binary([0, 1, 255])
      $0.allowsExternalBinaryDataStorage = true
      $0.attributeValueClassName = "[String]"
      $0.valueTransformerName = "NSSecureUnarchiveFromData"
    }
  }

  fileprivate static var address: AttributeDescription {
    make("address", .composite) {
      $0.composite = CompositeAttributeDescription(
        name: "Address",
        elements: [
          make("street", .string) { $0.isOptional = true },
          make("point", .composite) {
            $0.composite = CompositeAttributeDescription(elements: [
              make("x", .double) { $0.defaultValue = .double(0.1) },
              make("exact", .boolean) { $0.defaultValue = .boolean(true) },
            ])
          },
        ])
    }
  }

  fileprivate static var tagCount: AttributeDescription {
    make("tagCount", .integer32) {
      $0.derivation = DerivedAttributeDescription(
        derivationExpression: .function(operand: nil, selector: "count:", arguments: [.keyPath("tags")]),
        filteringPredicate: .comparison(
          .init(
            left: .subquery(collection: .keyPath("tags"), variable: "t", predicate: .alwaysTrue), comparator: .contains,
            right: .conditional(
              predicate: .alwaysFalse, then: .constant(.array([.null, .value(.double(2)), .array([])])),
              otherwise: .setOperation(
                .union, .fetch(request: .variable("r"), context: .variable("c"), countOnly: true),
                .function(
                  operand: .constant(.className("NSDate")), selector: "date",
                  arguments: [.keyPath(operand: .variable("source"), path: "a.b")]))))))
    }
  }

  fileprivate static var scratch: AttributeDescription {
    make("scratch", .undefined) { $0.isTransient = true }
  }
}

extension FetchRequestDescription {
  fileprivate static var recentNotes: FetchRequestDescription {
    var request = FetchRequestDescription(name: "recent", entityName: "Note")
    request.predicate = .comparison(
      .init(left: .keyPath("created"), comparator: .between, right: .aggregate([.variable("FROM"), .variable("TO")])))
    request.havingPredicate = .alwaysTrue
    request.sortDescriptors = [
      SortDescription(keyPath: "created", ascending: false), SortDescription(keyPath: "title"),
    ]
    request.resultType = .dictionaries
    request.fetchLimit = 5
    request.fetchOffset = 6
    request.fetchBatchSize = 7
    request.includesSubentities = false
    request.includesPropertyValues = false
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    request.returnsDistinctResults = true
    request.propertiesToFetch = ["title"]
    request.propertiesToGroupBy = ["size"]
    request.relationshipKeyPathsForPrefetching = ["tags.notes"]
    return request
  }
}
