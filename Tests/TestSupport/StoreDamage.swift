package import Foundation
import HeirloomFormats
package import HeirloomStore
import Testing

/// Damage that a person or a program did to a store of Wire's version 2.100, and what a verification finds.
package struct StoreDamage: CustomTestStringConvertible, Sendable {
  package let name: String
  package let kind: StoreFinding.Kind
  package let severity: StoreFinding.Severity
  package let entity: String?
  /// A part of the finding's message.
  package let words: String
  private let change: @Sendable (Connection) throws -> Void

  package static let store = "wire-ios-data-model/stores/store2-100-0.wiredatabase"

  package var testDescription: String { name }

  private init(
    _ name: String, _ severity: StoreFinding.Severity, _ kind: StoreFinding.Kind, entity: String? = nil,
    _ words: String, _ change: @escaping @Sendable (Connection) throws -> Void
  ) {
    (self.name, self.severity, self.kind, self.entity, self.words) = (name, severity, kind, entity, words)
    self.change = change
  }

  private init(
    _ name: String, _ severity: StoreFinding.Severity, _ kind: StoreFinding.Kind, entity: String? = nil,
    _ words: String, sql: String
  ) {
    self.init(name, severity, kind, entity: entity, words) { try $0.executeScript(sql) }
  }

  /// Everything ends up in the main file.
  package func apply(to url: URL) throws {
    // Defensive connections refuse to write to `sqlite_schema`.
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    try change(connection)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
  }

  package func withStore<Value>(_ body: (URL) throws -> Value) throws -> Value {
    try Corpus.withCopy(of: Self.store) { url in
      try apply(to: url)
      return try body(url)
    }
  }

  private static func changeMetadata(
    _ connection: Connection, _ change: (inout [String: PropertyListValue]) throws -> Void
  ) throws {
    let bytes = try #require(try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob)
    var values = try #require(try BinaryPropertyListReader(bytes).value().dictionaryValue)
    try change(&values)
    let list = try BinaryPropertyListWriter.bytes(of: .dictionary(values))
    try connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(list)])
  }

  private static func changeHashes(
    _ connection: Connection, _ change: (inout [String: PropertyListValue]) throws -> Void
  ) throws {
    try changeMetadata(connection) { values in
      var hashes = try #require(values["NSStoreModelVersionHashes"]?.dictionaryValue)
      try change(&hashes)
      values["NSStoreModelVersionHashes"] = .dictionary(hashes)
    }
  }

  // MARK: Stores that are not recognized

  package static let ofMetadata: [StoreDamage] = [
    StoreDamage("metadata without hashes", .error, .missingHashes, "no version hashes") { connection in
      try changeMetadata(connection) { $0["NSStoreModelVersionHashes"] = nil }
    },
    StoreDamage("metadata with an empty list of hashes", .error, .missingHashes, "no entity") { connection in
      try changeHashes(connection) { $0 = [:] }
    },
    StoreDamage("a hash that fits no model", .error, .differentHash, entity: "User", "another version hash") {
      connection in
      try changeHashes(connection) { $0["User"] = .data([UInt8](repeating: 7, count: 32)) }
    },
    StoreDamage("an entity more in the metadata", .error, .differentHash, entity: "Ghost", "not in the model") {
      connection in
      try changeHashes(connection) { $0["Ghost"] = .data([UInt8](repeating: 7, count: 32)) }
    },
    StoreDamage("a hash of another length", .error, .invalidMetadata, "32 bytes") { connection in
      try changeHashes(connection) { $0["User"] = .data([1, 2, 3]) }
    },
    StoreDamage(
      "two rows of metadata", .error, .severalMetadata, "several rows",
      sql: "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"),
    StoreDamage("no row of metadata", .error, .missingMetadata, "no row", sql: "DELETE FROM Z_METADATA"),
    StoreDamage("no table of metadata", .error, .missingMetadata, "is missing", sql: "DROP TABLE Z_METADATA"),
    StoreDamage(
      "metadata that are no property list", .error, .invalidMetadata, "can't be read",
      sql: "UPDATE Z_METADATA SET Z_PLIST = x'00010203'"),
    StoreDamage(
      "a store without identifier", .error, .invalidMetadata, "no identifier",
      sql: "UPDATE Z_METADATA SET Z_UUID = NULL"),
  ]

  package static let harmless: [StoreDamage] = [
    StoreDamage("a wrong digest", .warning, .wrongDigest, "digest") { connection in
      try changeMetadata(connection) { $0["NSStoreModelVersionHashesDigest"] = .string("AAAA") }
    },
    StoreDamage("a wrong checksum", .warning, .wrongChecksum, "checksum") { connection in
      try changeMetadata(connection) { $0["NSStoreModelVersionChecksumKey"] = .string("AAAA") }
    },
    StoreDamage("another type of store", .warning, .oddMetadata, "\"Binary\"") { connection in
      try changeMetadata(connection) { $0["NSStoreType"] = .string("Binary") }
    },
    StoreDamage(
      "an index is missing", .warning, .missingIndex, entity: "User", "ZUSER_ZCONNECTION_INDEX",
      sql: "DROP INDEX ZUSER_ZCONNECTION_INDEX"),
    StoreDamage(
      "an index on another column", .warning, .differentIndex, entity: "User", "ZUSER_ZCONNECTION_INDEX",
      sql: "DROP INDEX ZUSER_ZCONNECTION_INDEX; CREATE INDEX ZUSER_ZCONNECTION_INDEX ON ZUSER (ZNAME)"),
    StoreDamage(
      "an index more", .note, .extraIndex, entity: "User", "my_index", sql: "CREATE INDEX my_index ON ZUSER (ZNAME)"),
    StoreDamage(
      "a column more", .warning, .extraColumn, entity: "User", "ZUSER.ZNOTE",
      sql: "ALTER TABLE ZUSER ADD COLUMN ZNOTE VARCHAR; UPDATE ZUSER SET ZNOTE = 'kept?'"),
    StoreDamage(
      "a table of Core Data's form more", .warning, .extraTable, "1 row",
      sql:
        "CREATE TABLE ZDIARY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER); INSERT INTO ZDIARY VALUES (1, 26, 1)"
    ),
    StoreDamage("a table of the app's", .note, .extraTable, "settings", sql: "CREATE TABLE settings (name TEXT)"),
    StoreDamage(
      "a trigger of the app's", .note, .extraTrigger, entity: "User", "mine",
      sql: "CREATE TRIGGER mine AFTER DELETE ON ZUSER BEGIN SELECT 1; END"),
    StoreDamage(
      "a copy of the model too many", .warning, .severalModelCaches, "2 copies",
      sql: "INSERT INTO Z_MODELCACHE SELECT Z_CONTENT FROM Z_MODELCACHE"),
    StoreDamage(
      "an entity's old name", .note, .staleEntityName, entity: "User", "Member1",
      sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Member1' WHERE Z_ENT = 24"),
    StoreDamage(
      "a row for an unknown entity", .warning, .unknownEntityRow, entity: "Ghost", "number 77",
      sql: "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Ghost', 0, 5)"),
    StoreDamage(
      "a change of no entity", .warning, .unknownEntityReference, "2 rows",
      sql:
        "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER, ZENTITYPK INTEGER); INSERT INTO ACHANGE VALUES"
        + " (1, 24, 999), (2, 91, 1), (3, 92, 1), (4, NULL, NULL)"),
    StoreDamage(
      "a CloudKit record of no entity", .warning, .unknownEntityReference, "Nobody",
      sql:
        "CREATE TABLE ANSCKRECORD (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYNAME VARCHAR); INSERT INTO ANSCKRECORD"
        + " VALUES (1, 24, 'User'), (2, 24, 'Nobody')"),
    StoreDamage(
      "no count of saves", .warning, .invalidLockCount, entity: "User", "Z_OPT",
      sql: "UPDATE ZUSER SET Z_OPT = NULL WHERE Z_PK = 3"),
  ]

  // MARK: Schema and entities

  package static let ofSchema: [StoreDamage] = [
    StoreDamage(
      "no row for an entity", .error, .missingEntityRow, entity: "User", "number 24",
      sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'User'"),
    StoreDamage(
      "two rows for an entity", .error, .duplicateEntityRow, entity: "User", "2 rows",
      sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'User' WHERE Z_ENT = 23"),
    StoreDamage(
      "entities under exchanged numbers", .error, .wrongEntityRow, entity: "User", "Team",
      sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_ENT WHEN 23 THEN 'User' ELSE 'Team' END WHERE Z_ENT IN (23, 24)"),
    StoreDamage(
      "another parent", .error, .wrongEntityRow, entity: "TextMessage", "parent",
      sql: "UPDATE Z_PRIMARYKEY SET Z_SUPER = 5 WHERE Z_NAME = 'TextMessage'"),
    StoreDamage(
      "keys behind", .error, .keysBehind, entity: "User", "no number",
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_NAME = 'User'"),
    StoreDamage(
      "keys a little behind", .error, .keysBehind, entity: "User", "is 21",
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 21 WHERE Z_NAME = 'User'"),
    StoreDamage(
      "no table of entities", .error, .missingTable, "Z_PRIMARYKEY", sql: "DROP TABLE Z_PRIMARYKEY"),
    StoreDamage(
      "no column in the table of entities", .error, .missingColumn, "Z_PRIMARYKEY.Z_MAX",
      sql: "ALTER TABLE Z_PRIMARYKEY DROP COLUMN Z_MAX"),
    StoreDamage("no table of an entity", .error, .missingTable, entity: "User", "ZUSER", sql: "DROP TABLE ZUSER"),
    StoreDamage(
      "no table of links", .error, .missingTable, entity: "SystemMessage", "Z_16USERS", sql: "DROP TABLE Z_16USERS"),
    StoreDamage(
      "no column", .error, .missingColumn, entity: "User", "ZUSER.ZEMAILADDRESS",
      sql: "ALTER TABLE ZUSER DROP COLUMN ZEMAILADDRESS"),
    StoreDamage("a column of the wrong type", .error, .differentColumnType, entity: "User", "ZUSER.ZNAME") {
      connection in
      try connection.executeScript(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'ZNAME VARCHAR', 'ZNAME INTEGER') WHERE name = 'ZUSER';
        PRAGMA writable_schema = RESET
        """)
    },
    StoreDamage("a column of a like type", .warning, .differentColumnType, entity: "User", "alike") { connection in
      try connection.executeScript(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'ZNAME VARCHAR', 'ZNAME TEXT') WHERE name = 'ZUSER';
        PRAGMA writable_schema = RESET
        """)
    },
  ]

  // MARK: Rows

  package static let ofRows: [StoreDamage] = [
    StoreDamage(
      "an unknown entity number", .error, .unknownEntityNumber, entity: "Message", "1 row of ZMESSAGE (first: Z_PK 22)",
      sql: "UPDATE ZMESSAGE SET Z_ENT = 99 WHERE Z_PK = 22"),
    StoreDamage(
      "the entity number of another table", .warning, .unknownEntityNumber, entity: "User", "Conversation's",
      sql: "UPDATE ZUSER SET Z_ENT = 5 WHERE Z_PK = 1"),
    StoreDamage(
      "no entity number", .warning, .unknownEntityNumber, entity: "User", "NULL",
      sql: "UPDATE ZUSER SET Z_ENT = NULL WHERE Z_PK = 1"),
    StoreDamage(
      "an object of an abstract entity", .warning, .abstractEntity, entity: "Message", "abstract",
      sql: "UPDATE ZMESSAGE SET Z_ENT = 11 WHERE Z_PK = 22"),
    StoreDamage(
      "a dangling key", .error, .danglingKey, entity: "Connection", "Connection.to",
      sql: "UPDATE ZCONNECTION SET ZTO = 999 WHERE Z_PK = 1"),
    StoreDamage(
      "a key's wrong entity", .error, .wrongDestination, entity: "UserClient", "Z11_DISCOVEREDBYMESSAGE",
      sql:
        "UPDATE ZUSERCLIENT SET ZDISCOVEREDBYMESSAGE = 22, Z11_DISCOVEREDBYMESSAGE = 12 WHERE Z_PK IN (SELECT MIN(Z_PK) FROM ZUSERCLIENT)"
    ),
    StoreDamage(
      "a key to an object of another entity", .error, .wrongDestination, entity: "SystemMessage",
      "of the entity SystemMessage",
      sql: "UPDATE ZMESSAGE SET ZPARENTMESSAGE = 22 WHERE Z_PK = 1"),
    StoreDamage(
      "a link from nowhere", .error, .danglingLink, entity: "SystemMessage", "ZMESSAGE",
      sql: "INSERT INTO Z_16USERS (Z_16SYSTEMMESSAGES, Z_24USERS1) VALUES (999, 1)"),
    StoreDamage(
      "a link to nowhere", .error, .danglingLink, entity: "SystemMessage", "ZUSER",
      sql: "INSERT INTO Z_16USERS (Z_16SYSTEMMESSAGES, Z_24USERS1) VALUES (1, 999)"),
    StoreDamage(
      "a link without an end", .error, .danglingLink, entity: "SystemMessage", "one end",
      sql: "INSERT INTO Z_16USERS (Z_16SYSTEMMESSAGES, Z_24USERS1) VALUES (1, NULL)"),
    StoreDamage(
      "no place in a list", .warning, .invalidOrder, entity: "Conversation", "no place",
      sql:
        "UPDATE Z_5LASTSERVERSYNCEDACTIVEPARTICIPANTS SET Z_FOK_24LASTSERVERSYNCEDACTIVEPARTICIPANTS = NULL WHERE rowid = 1"
    ),
    StoreDamage(
      "equal places in a list", .warning, .invalidOrder, entity: "Conversation", "share",
      sql: "UPDATE Z_5LASTSERVERSYNCEDACTIVEPARTICIPANTS SET Z_FOK_24LASTSERVERSYNCEDACTIVEPARTICIPANTS = 2048"),
    StoreDamage(
      "a text where bytes belong", .error, .wrongValueType, entity: "User", "User.remoteIdentifier_data",
      sql: "UPDATE ZUSER SET ZREMOTEIDENTIFIER_DATA = 'text' WHERE Z_PK = 1"),
    StoreDamage(
      "bytes where a text belongs", .error, .wrongValueType, entity: "User", "User.name",
      sql: "UPDATE ZUSER SET ZNAME = x'00' WHERE Z_PK = 1"),
    StoreDamage(
      "a text where a number belongs", .error, .wrongValueType, entity: "User", "User.accentColorValue",
      sql: "UPDATE ZUSER SET ZACCENTCOLORVALUE = 'red' WHERE Z_PK = 1"),
    StoreDamage(
      "a number out of range", .warning, .valueOutOfRange, entity: "User", "User.accentColorValue",
      sql: "UPDATE ZUSER SET ZACCENTCOLORVALUE = 100000 WHERE Z_PK = 1"),
    StoreDamage(
      "a value of another entity", .warning, .valueOfOtherEntity, entity: "TextMessage", "TextMessage.text",
      sql: "UPDATE ZMESSAGE SET ZTEXT1 = 'lost' WHERE Z_PK = 22"),
  ]

  package static let all: [StoreDamage] = ofMetadata + harmless + ofSchema + ofRows
}
