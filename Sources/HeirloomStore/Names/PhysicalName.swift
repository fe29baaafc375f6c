/// The names of the physical format, spelled here and nowhere else.
package enum PhysicalName {
  // MARK: Bookkeeping

  /// The table with one row for each entity.
  package static let primaryKeyTable: String = "Z_PRIMARYKEY"
  /// The table with the store's metadata, one row.
  package static let metadataTable: String = "Z_METADATA"
  /// The table with a copy of the model, one row.
  package static let modelCacheTable: String = "Z_MODELCACHE"

  /// The entity's name in the table of entities.
  package static let name: String = "Z_NAME"
  /// The number of the parent entity in the table of entities, 0 for a root.
  package static let superentity: String = "Z_SUPER"
  /// The highest primary key assigned, kept on the rows of roots.
  package static let maximum: String = "Z_MAX"
  /// The metadata's version, always 1.
  package static let version: String = "Z_VERSION"
  /// The store's identifier.
  package static let uuid: String = "Z_UUID"
  /// The metadata as a property list.
  package static let propertyList: String = "Z_PLIST"
  /// The model as a deflated archive.
  package static let content: String = "Z_CONTENT"

  // MARK: Columns of entity tables

  /// An object's primary key, unique in its table.
  package static let primaryKey: String = "Z_PK"
  /// The number of an object's entity.
  package static let entity: String = "Z_ENT"
  /// The number of times an object was saved.
  package static let optimisticLock: String = "Z_OPT"
  /// The prefix of the name of a column for the place in an ordered relationship.
  package static let orderPrefix: String = "Z_FOK_"
  /// The second column of the join table of a relationship that is its own inverse.
  package static let reflexiveColumn: String = "REFLEXIVE"
  /// The prefix of the name of a derived attribute's trigger.
  package static let derivedTriggerPrefix: String = "Z_DA_"
  /// The prefix of an R-tree's name.
  package static let rTreePrefix: String = "Z_RT_"

  // MARK: Tables of the framework's own

  /// The table of changes of persistent history.
  package static let changeTable: String = "ACHANGE"
  /// The table of transactions of persistent history.
  package static let transactionTable: String = "ATRANSACTION"
  /// The table of texts of persistent history.
  package static let transactionStringTable: String = "ATRANSACTIONSTRING"
  /// The prefix of the names of CloudKit mirroring's tables.
  package static let cloudKitPrefix: String = "ANSCK"
  /// The first number of the framework's own entities: history from 16001, CloudKit mirroring from 17001.
  package static let firstFrameworkNumber: Int64 = 16_000
  /// The number of a changed object's entity, in the table of changes.
  package static let changedEntity: String = "ZENTITY"
  /// The number of an object's entity, in CloudKit mirroring's tables.
  package static let mirroredEntity: String = "ZENTITYID"
  /// The key of an object, beside its entity in a row of history or CloudKit mirroring.
  package static let objectKey: String = "ZENTITYPK"
  /// The suffix of the names of columns that hold the name of an entity, in CloudKit mirroring's tables.
  package static let entityNameSuffix: String = "ENTITYNAME"
  /// The bits of the properties that an update changed, in the table of changes.
  package static let changedColumns: String = "ZCOLUMNS"
  /// The prefix, before a number, of the columns that keep values of deleted objects, in the table of changes.
  package static let tombstonePrefix: String = "ZTOMBSTONE"

  // MARK: Keys of the metadata

  /// The kind of store, always `SQLite`.
  package static let storeTypeKey: String = "NSStoreType"
  /// The version of Core Data that wrote the store last.
  package static let frameworkVersionKey: String = "NSPersistenceFrameworkVersion"
  /// The version hashes by entity name.
  package static let versionHashesKey: String = "NSStoreModelVersionHashes"
  /// The version of the hash algorithm, always 3.
  package static let versionHashesVersionKey: String = "NSStoreModelVersionHashesVersion"
  /// The model's version identifiers.
  package static let versionIdentifiersKey: String = "NSStoreModelVersionIdentifiers"
  /// The digest of names and hashes.
  package static let versionHashesDigestKey: String = "NSStoreModelVersionHashesDigest"
  /// The digest of hashes.
  package static let versionChecksumKey: String = "NSStoreModelVersionChecksumKey"
  /// SQLite's auto-vacuum mode, as a text.
  package static let autoVacuumKey: String = "_NSAutoVacuumLevel"
  /// The generation that Heirloom gave the file; Core Data preserves keys that it doesn't know.
  package static let generationKey: String = "HeirloomGeneration"
  /// Core Data's marker, present only while a deferred lightweight migration's clean-up is unfinished.
  package static let deferredMigrationKey: String = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
  /// Heirloom's list of the clean-up that a deferred migration left.
  package static let deferredWorkKey: String = "HeirloomDeferredMigration"

  // MARK: Functions

  /// The functions of five arguments that triggers call to report what they changed.
  package static let triggerFunctions: [String] = [
    updatedAffectedObjectValue, insertUpdatedAffectedObjectValue,
  ]
  /// The function that triggers on updates call.
  package static let updatedAffectedObjectValue: String = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
  /// The function that triggers on the insertion of the object itself call.
  package static let insertUpdatedAffectedObjectValue: String = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
  /// The function that gives the current time in seconds since 2001.
  package static let nowFunction: String = "NSCoreDataNow"
}
