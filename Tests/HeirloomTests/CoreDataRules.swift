import Foundation
import Heirloom

/// A reason for which a file that Heirloom migrated may differ from the one that Core Data migrated.
struct CoreDataRule: Sendable {
  let cause: String
  let allows: @Sendable (StorePicture.Difference, Context) -> Bool

  struct Context {
    /// The store before the migration, read with its own model.
    let before: StorePicture
    let heirloom: StorePicture
    let coreData: StorePicture
    let plan: MigrationPlan
    /// True when Core Data made the objects anew instead of changing the file.
    let isCopied: Bool
    /// True when the app gave Core Data a mapping model.
    let hasMapping: Bool
  }

  /// A rule that no pair uses must go.
  static let all: [CoreDataRule] = [
    CoreDataRule(
      cause: "Each writer says in the metadata who it is: Heirloom the generation of the file, Core Data the version of"
        + " the framework, which below some version wrote neither digest nor checksum of the hashes"
    ) { difference, context in
      guard case .metadata(let key) = difference.place else { return false }
      switch key {
      case "NSPersistenceFrameworkVersion":
        return difference.heirloom == "NSNumber \(StoreMetadata.currentFrameworkVersion)"
      case "HeirloomGeneration", "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey":
        return difference.coreData == nil
      default: return false
      }
    },
    CoreDataRule(
      cause: "Core Data leaves indexes behind under names that no longer hold, beside one under the name that does:"
        + " they find nothing that the other doesn't"
    ) { difference, context in
      guard case .index(let name, _) = difference.place, difference.heirloom == nil,
        let index = context.coreData.indexes[name]
      else { return false }
      return context.coreData.indexes.contains {
        $0.key != name && $0.value == index && context.isIn($0.key, \.heirloom)
      }
    },
    CoreDataRule(
      cause: "Before it had fetch indexes, Core Data called the indexes of attributes otherwise, and wrote uniqueness"
        + " into the statement of the table"
    ) { difference, context in
      switch difference.place {
      case .index(let name, _):
        let (own, other) =
          difference.heirloom == nil ? (context.coreData, context.heirloom) : (context.heirloom, context.coreData)
        guard difference.heirloom == nil || difference.coreData == nil, let index = own.indexes[name] else {
          return false
        }
        return other.indexes.values.contains(index)
      case .constraints(let table):
        // The constraint's index is judged separately.
        return difference.heirloom == "" && difference.coreData?.hasPrefix("CONSTRAINT") == true
          && context.coreData.indexes.contains { $0.value.table == table && $0.key.hasPrefix("sqlite_autoindex_") }
      default: return false
      }
    },
    CoreDataRule(
      cause: "Which side names the table of a many-to-many relationship of an entity to itself is not known: Heirloom"
        + " keeps the side that the store has. The links are compared by themselves"
    ) { difference, context in
      switch difference.place {
      case .columnOrder(let table), .column(let table, _), .constraints(let table):
        return context.isReflexive(table)
      case .row(let table, _), .cell(let table, _, _):
        // In a table that both have, links must be the same.
        let place = StorePicture.Place.columnOrder(table: table)
        return context.isReflexive(table)
          && (context.heirloom.facts[place] == nil || context.coreData.facts[place] == nil)
      case .index(let name, let table):
        let columns = (context.heirloom.indexes[name] ?? context.coreData.indexes[name])?.columns
        let other = difference.heirloom == nil ? context.heirloom : context.coreData
        return context.isReflexive(table) && other.indexes.values.contains { $0.columns == columns }
      default: return false
      }
    },
    CoreDataRule(
      cause:
        "Older versions of Core Data made a table anew that gained a column or had one renamed: in the order of the"
        + " model, and with the default of a new attribute in the objects that have it. Newer ones and Heirloom leave the"
        + " columns in their places and fill a new one in every row"
    ) { difference, context in
      guard let heirloom = difference.heirloom, let coreData = difference.coreData else { return false }
      switch difference.place {
      case .columnOrder:
        return heirloom.components(separatedBy: ", ").sorted() == coreData.components(separatedBy: ", ").sorted()
      case .cell(let table, let key, let name):
        return context.isOld && coreData == StorePicture.text(.null)
          && context.isOfAnotherEntity(table, key, column: name)
      default: return false
      }
    },
    CoreDataRule(
      cause: "Core Data leaves the old name of a renamed entity in Z_PRIMARYKEY, where it looks for numbers only"
    ) { difference, context in
      guard case .entity(_, "Z_NAME") = difference.place else { return false }
      return context.plan.mapping.entityMappings.contains { mapping in
        guard let source = mapping.sourceEntityName, let destination = mapping.destinationEntityName else {
          return false
        }
        return source != destination && difference.heirloom == StorePicture.text(.text(destination))
          && difference.coreData == StorePicture.text(.text(source))
      }
    },
    CoreDataRule(
      cause: "The journal mode is the choice of the app that opened the store last; Heirloom keeps what it finds"
    ) { difference, context in
      difference.place == .header("journal_mode") && difference.heirloom == context.before.facts[difference.place]
    },
    CoreDataRule(
      cause: "Core Data migrates in place with a copy of the model that names no classes, and keeps that copy"
    ) { difference, _ in
      guard case .model(let path) = difference.place else { return false }
      return path.hasSuffix("/className") && difference.coreData == nil
    },
    CoreDataRule(
      cause: "A migration that makes objects anew gives them new keys and counts their saves from one; Heirloom leaves"
        + " the keys, to which other files may refer"
    ) { difference, context in
      guard context.isCopied else { return false }
      switch difference.place {
      case .cell(_, _, "Z_OPT"): return difference.heirloom != nil && difference.coreData != nil
      case .entity(_, "Z_MAX"): return difference.heirloom != nil && difference.coreData != nil
      default: return false
      }
    },
    CoreDataRule(
      cause: "The app's mapping model computed values of a property that is new; without it such a property is empty"
        + " or has its default"
    ) { difference, context in
      guard context.hasMapping, case .cell(let table, _, let name) = difference.place, difference.heirloom != nil,
        let column = context.heirloom.schema.table(named: table)?.column(named: name)
      else { return false }
      switch column.role {
      case .attribute(let entity, let path): return context.isNew(path.first ?? "", of: entity)
      case .key(let entity, let property): return context.isNew(property, of: entity)
      default: return false
      }
    },
  ]
}

extension CoreDataRule.Context {
  fileprivate func isIn(_ index: String, _ file: KeyPath<Self, StorePicture>) -> Bool {
    self[keyPath: file].indexes[index] != nil
  }

  /// Returns true if a column of an object's table holds a new property that the object's entity doesn't have.
  fileprivate func isOfAnotherEntity(_ table: String, _ key: String, column: String) -> Bool {
    let number = heirloom.facts[.cell(table: table, key: key, column: "Z_ENT")]
    guard case .attribute(let entity, let path)? = heirloom.schema.table(named: table)?.column(named: column)?.role,
      let owner = heirloom.schema.entity(named: entity), isNew(path.first ?? "", of: entity)
    else { return false }
    return !owner.treeNumbers.contains { StorePicture.text(.integer(Int64($0))) == number }
  }

  /// Returns true if no property of the source becomes this property of an entity.
  fileprivate func isNew(_ property: String, of entity: String) -> Bool {
    let mappings = plan.mapping.entityMappings.filter { $0.destinationEntityName == entity }
    return !mappings.isEmpty
      && mappings.allSatisfy { mapping in
        let found = mapping.attributeMapping(named: property) ?? mapping.relationshipMapping(named: property)
        return (found?.form ?? .defaultValue) == .defaultValue
      }
  }
}

extension CoreDataRule.Context {
  fileprivate func isReflexive(_ table: String) -> Bool {
    heirloom.isReflexive(table) || coreData.isReflexive(table)
  }

  /// True when this version of Core Data makes a table anew where newer ones add a column.
  fileprivate var isOld: Bool {
    let version = coreData.facts[.metadata(key: "NSPersistenceFrameworkVersion")]
    return version.flatMap { Int($0.filter(\.isNumber)) }.map { $0 < 977 } ?? false
  }
}

extension StorePicture {
  /// Returns true if a table holds the links of a many-to-many relationship between objects of one entity.
  fileprivate func isReflexive(_ table: String) -> Bool {
    guard case .links(let entity, let name)? = schema.table(named: table)?.kind else { return false }
    return schema.model.relationship(named: name, of: entity)?.destinationEntity == entity
  }
}
