/// The names of the physical format, spelled here and nowhere else.
package enum PhysicalName {
  // MARK: Bookkeeping

  /// One row for each entity.
  package static let primaryKeyTable: String = "Z_PRIMARYKEY"
  package static let metadataTable: String = "Z_METADATA"
  package static let modelCacheTable: String = "Z_MODELCACHE"

  /// In the table of entities.
  package static let name: String = "Z_NAME"
  /// 0 for a root.
  package static let superentity: String = "Z_SUPER"
  /// The highest primary key assigned, kept on the rows of roots.
  package static let maximum: String = "Z_MAX"
  /// Always 1.
  package static let version: String = "Z_VERSION"
  package static let uuid: String = "Z_UUID"
  package static let propertyList: String = "Z_PLIST"
  /// A deflated archive of the model.
  package static let content: String = "Z_CONTENT"

  // MARK: Columns of entity tables

  package static let primaryKey: String = "Z_PK"
  /// The number of an object's entity.
  package static let entity: String = "Z_ENT"
  /// The number of times an object was saved.
  package static let optimisticLock: String = "Z_OPT"
  package static let orderPrefix: String = "Z_FOK_"
  package static let reflexiveColumn: String = "REFLEXIVE"
  package static let derivedTriggerPrefix: String = "Z_DA_"
  package static let rTreePrefix: String = "Z_RT_"

  // MARK: Tables of the framework's own

  package static let changeTable: String = "ACHANGE"
  package static let transactionTable: String = "ATRANSACTION"
  package static let transactionStringTable: String = "ATRANSACTIONSTRING"
  package static let cloudKitPrefix: String = "ANSCK"
  /// History's entities from 16001, CloudKit mirroring's from 17001.
  package static let firstFrameworkNumber: Int64 = 16_000
  package static let changedEntity: String = "ZENTITY"
  package static let mirroredEntity: String = "ZENTITYID"
  /// Beside the entity's number in a row of history or CloudKit mirroring.
  package static let objectKey: String = "ZENTITYPK"
  package static let entityNameSuffix: String = "ENTITYNAME"
  /// The bits of the properties that an update changed, in the table of changes.
  package static let changedColumns: String = "ZCOLUMNS"
  /// Before a number: columns of the table of changes that keep values of deleted objects.
  package static let tombstonePrefix: String = "ZTOMBSTONE"

  // MARK: Keys of the metadata

  /// Always `SQLite`.
  package static let storeTypeKey: String = "NSStoreType"
  /// That of the Core Data that wrote the store last.
  package static let frameworkVersionKey: String = "NSPersistenceFrameworkVersion"
  package static let versionHashesKey: String = "NSStoreModelVersionHashes"
  /// Always 3.
  package static let versionHashesVersionKey: String = "NSStoreModelVersionHashesVersion"
  package static let versionIdentifiersKey: String = "NSStoreModelVersionIdentifiers"
  package static let versionHashesDigestKey: String = "NSStoreModelVersionHashesDigest"
  package static let versionChecksumKey: String = "NSStoreModelVersionChecksumKey"
  /// SQLite's auto-vacuum mode, as a text.
  package static let autoVacuumKey: String = "_NSAutoVacuumLevel"
  /// Core Data preserves keys that it doesn't know.
  package static let generationKey: String = "HeirloomGeneration"
  /// Core Data's marker, present only while a deferred lightweight migration's clean-up is unfinished.
  package static let deferredMigrationKey: String = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
  /// Heirloom's list of the remaining clean-up.
  package static let deferredWorkKey: String = "HeirloomDeferredMigration"

  // MARK: Functions

  /// Triggers call them, with five arguments, to report what they changed.
  package static let triggerFunctions: [String] = [
    updatedAffectedObjectValue, insertUpdatedAffectedObjectValue,
  ]
  /// Called by triggers on updates.
  package static let updatedAffectedObjectValue: String = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
  /// Called by triggers on the insertion of the object itself.
  package static let insertUpdatedAffectedObjectValue: String = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
  /// In seconds since 2001.
  package static let nowFunction: String = "NSCoreDataNow"
}
