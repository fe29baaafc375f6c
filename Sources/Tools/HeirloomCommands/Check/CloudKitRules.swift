import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// The check of a history's versions against CloudKit's rules for mirrored models.
///
/// Rules for a model:
/// https://developer.apple.com/documentation/coredata/creating-a-core-data-model-for-cloudkit and
/// the reasons that `NSPersistentCloudKitContainer` gives when it refuses a store. Contents of
/// records:
/// https://developer.apple.com/documentation/coredata/reading-cloudkit-records-for-core-data. A
/// deployed schema can only grow:
/// https://developer.apple.com/documentation/cloudkit/integrating-a-text-based-schema-into-your-workflow.
struct CloudKitRules {
  private(set) var findings: [HistoryFinding] = []
  private let currentName: String
  /// `nil` for all entities.
  private let configuration: String?
  /// By record type, then by field.
  private var deployed: [String: [String: (content: String, version: String)]] = [:]

  init(_ history: CheckedHistory, configuration: String?) {
    currentName = history.currentName
    self.configuration = configuration
    var last: CheckedHistory.Version?
    for version in history.versions {
      let faults = faults(of: version)
      if version.name == currentName {
        findings += faults
      } else if let first = faults.first {
        findings.append(
          HistoryFinding(
            .cloudKitModel, .note, version: version.name, entity: first.entity,
            property: first.property, file: version.file,
            "\"\(version.name)\" breaks \(counted(Int64(faults.count), "rule")) of CloudKit, so its stores were never"
              + " mirrored, and later versions needn't keep its record types and fields."))
      }
      // A current version that can't be mirrored yet still must keep the deployed fields.
      if let last { compare(last, with: version, isMirrored: faults.isEmpty) }
      if faults.isEmpty {
        deploy(version)
        last = version
      }
      if version.name == currentName { break }
    }
  }

  private func entities(of model: ManagedObjectModel) -> [EntityDescription] {
    configuration == nil ? model.entities : model.entities(inConfiguration: configuration) ?? []
  }

  // MARK: - One model

  private typealias Fault = (property: String?, problem: String, remedy: String)

  private func faults(of version: CheckedHistory.Version) -> [HistoryFinding] {
    entities(of: version.model).flatMap { entity in
      let faults =
        Self.constraintFaults(of: entity) + Self.attributeFaults(of: entity)
        + Self.relationshipFaults(of: entity, in: version.model)
      return faults.map { fault in
        HistoryFinding(
          .cloudKitModel, .error, version: version.name, entity: entity.name,
          property: fault.property, file: version.file,
          "CloudKit can't mirror \"\(version.name)\": \(fault.problem)", remedy: fault.remedy)
      }
    }
  }

  private static func constraintFaults(of entity: EntityDescription) -> [Fault] {
    entity.uniquenessConstraints.map { constraint in
      (
        constraint.count == 1 ? constraint.first : nil,
        "\"\(entity.name)\" has a uniqueness constraint (\(constraint.joined(separator: ", "))), on which"
          + " two devices can't agree.",
        "Take it out and merge duplicates in the app."
      )
    }
  }

  private static func attributeFaults(of entity: EntityDescription) -> [Fault] {
    entity.attributes.compactMap { attribute in
      let name = "\"\(entity.name).\(attribute.name)\""
      if attribute.type == .undefined || attribute.type == .objectID {
        return (
          attribute.name,
          "\(name) has the type \(attribute.type.name), which no record field can have.", "Give it another type."
        )
      }
      guard !attribute.isOptional, !attribute.isTransient, attribute.defaultValue == nil else { return nil }
      return (
        attribute.name,
        "\(name) is required and has no default, and a record may come without it.",
        "Make it optional, or give it a default."
      )
    }
  }

  private static func relationshipFaults(of entity: EntityDescription, in model: ManagedObjectModel) -> [Fault] {
    entity.relationships.filter { !$0.isTransient }.flatMap { relationship in
      let name = "\"\(entity.name).\(relationship.name)\""
      let target = relationship.destinationEntity
      let rules: [(isBroken: Bool, problem: String, remedy: String)] = [
        (!relationship.isOptional, "is required, and related records come one by one.", "Make it optional."),
        (
          relationship.inverseRelationship == nil, "has no inverse, and related records come in any order.",
          "Add the inverse."
        ),
        (relationship.isOrdered, "is ordered, and records keep no order.", "Keep the order in an attribute."),
        (
          relationship.deleteRule == .deny, "denies deletion, which another device can't know of.",
          "Choose another delete rule."
        ),
      ]
      let leadingOut = model.configurations.filter {
        $0.entityNames.contains(entity.name) && !$0.entityNames.contains(target)
      }
      return rules.filter(\.isBroken).map { (relationship.name, "\(name) \($0.problem)", $0.remedy) }
        + leadingOut.map { configuration in
          (
            relationship.name,
            "\(name) leads out of the configuration \"\(configuration.name)\", to \"\(target)\".",
            "Keep related entities in one configuration."
          )
        }
    }
  }

  // MARK: - One version and the next

  /// Named after the root entity.
  private static func recordType(_ entity: String, _ model: ManagedObjectModel) -> String {
    "CD_" + (model.rootEntity(of: entity)?.name ?? entity)
  }

  private static func content(of property: any PropertyDescription) -> String? {
    switch property {
    case let attribute as AttributeDescription where !attribute.isTransient:
      let kind =
        switch attribute.type {
        case .integer16, .integer32, .integer64, .boolean: "a 64-bit integer"
        case .float, .double: "a floating-point number"
        default: "a value of the type \(attribute.type.name)"
        }
      return kind + (attribute.allowsCloudEncryption ? ", encrypted" : "")
    case let relationship as RelationshipDescription where !relationship.isTransient:
      return relationship.isToMany ? "links to several objects" : "a link to one object"
    default: return nil
    }
  }

  private mutating func deploy(_ version: CheckedHistory.Version) {
    for entity in entities(of: version.model) {
      let type = Self.recordType(entity.name, version.model)
      for property in entity.properties {
        guard let content = Self.content(of: property), deployed[type]?[property.name] == nil else { continue }
        deployed[type, default: [:]][property.name] = (content, version.name)
      }
    }
  }

  private mutating func compare(_ last: CheckedHistory.Version, with next: CheckedHistory.Version, isMirrored: Bool) {
    guard isMirrored || next.name == currentName else { return }
    let (old, new) = (last.model, next.model)
    func add(_ entity: String, _ property: String?, _ problem: String, remedy: String) {
      // Versions before the current one are shipped and can't be corrected.
      findings.append(
        HistoryFinding(
          .cloudKitSchema, next.name == currentName ? .error : .warning, version: next.name,
          entity: entity, property: property, file: next.file,
          "\"\(next.name)\" doesn't only add to the schema that \"\(last.name)\" deployed: \(problem)", remedy: remedy))
    }
    let remaining = entities(of: new)
    for entity in entities(of: old) {
      let type = Self.recordType(entity.name, old)
      guard remaining.contains(where: { $0.name == entity.name }) else {
        let heir = remaining.first { $0.canonicalIdentifier == entity.canonicalIdentifier }
        add(
          entity.name, nil,
          heir.map {
            "\"\(entity.name)\" is now called \"\($0.name)\", which is another record type: devices with the earlier version and those"
              + " with this one no longer see each other's records."
          } ?? "\"\(entity.name)\" is removed, but its records stay in CloudKit forever.",
          remedy: heir == nil ? "Keep the entity, unused." : "Keep the name.")
        continue
      }
      let newType = Self.recordType(entity.name, new)
      guard newType == type else {
        add(
          entity.name, nil,
          "the records of \"\(entity.name)\" were of the type \(type) and would be of the type \(newType).",
          remedy: "Leave it under the same root entity.")
        continue
      }
      for property in entity.properties where Self.content(of: property) != nil {
        let name = "\"\(entity.name).\(property.name)\""
        let properties: [any PropertyDescription] = new.attributes(of: entity.name) + new.relationships(of: entity.name)
        if properties.contains(where: { $0.name == property.name && Self.content(of: $0) != nil }) { continue }
        let heir = properties.first {
          $0.canonicalIdentifier == property.canonicalIdentifier && $0.name != property.name
        }
        add(
          entity.name, property.name,
          heir.map {
            "\(name) is now called \"\($0.name)\", which is another field: it no longer syncs with devices that have the earlier"
              + " version."
          } ?? "\(name) is removed, but its field stays in CloudKit forever.",
          remedy: heir == nil ? "Keep the property, unused." : "Keep the name.")
      }
    }
    for entity in remaining {
      let fields = deployed[Self.recordType(entity.name, new)] ?? [:]
      for property in entity.properties {
        guard let field = fields[property.name], let content = Self.content(of: property), content != field.content
        else { continue }
        add(
          entity.name, property.name,
          "\"\(entity.name).\(property.name)\" would be \(content), and its field is \(field.content)"
            + " since \"\(field.version)\".",
          remedy: "Add a property of another name.")
      }
    }
  }
}
