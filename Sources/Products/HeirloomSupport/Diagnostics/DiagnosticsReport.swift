import Heirloom

/// The JSON report of a diagnostics archive; it contains no row values.
struct DiagnosticsReport: Encodable {
  struct System: Encodable {
    var heirloom: String
    var sqlite: String?
    var platform: String
    var architecture: String
    /// The version of the app that archived the model last.
    var application: String?
  }

  /// `name` is the path relative to the store's folder.
  struct File: Encodable {
    var name: String
    var kind: String
    var bytes: Int64
    var mode: String
    var isOwn: Bool
    var links: UInt64
    var changed: String
  }

  struct Volume: Encodable {
    var kind: String
    var fileSystem: String
    var availableBytes: UInt64
  }

  struct Database: Encodable {
    var journalMode: String
    var pageSize: Int64?
    var pages: Int64?
    var freePages: Int64?
    var encoding: String?
    var userVersion: Int64?
    var autoVacuum: Int64?
  }

  struct Metadata: Encodable {
    var identifier: String
    var versionChecksum: String
    var versionHashes: [String: String]
    var versionIdentifiers: [String]
    var frameworkVersion: Int
    var generation: String?
    var deferred: [String]
    /// The keys of the app's own values; the values are private.
    var otherKeys: [String]
  }

  struct History: Encodable {
    var current: String
    var currentChecksum: String
    var versions: [String]
    var storeVersion: String?
    var nearest: [String]
  }

  struct Snapshot: Encodable {
    var checksum: String?
    var archivedAt: String?
    var problem: String?
  }

  struct Entity: Encodable {
    var name: String
    var number: Int64
    var superentity: Int64
    var highestKey: Int64?
    var rows: Int64?
  }

  /// `rows` is `nil` if they can't be counted.
  struct Table: Encodable {
    var name: String
    var rows: Int64?
  }

  struct Finding: Encodable {
    var severity: String
    var kind: String
    var entity: String?
    var message: String
  }

  /// A running or unfinished operation.
  struct Operation: Encodable {
    var operation: String
    var phase: String
    var began: String
  }

  struct Kept: Encodable {
    var id: String
    var versionChecksum: String?
    var versionName: String?
    var bytes: Int64?
    var code: String?
    /// The archive's folder with the store and all of its data; `nil` if it isn't in the archive.
    var folder: String?
  }

  struct Configuration: Encodable {
    var keptVersions: Int
    var losses: String
    var migratesUnknownVersions: Bool
    var incompatibleStore: String
    var proof: String
    var infersMappingModel: Bool
    var defersLightweightMigration: Bool
    var allowsUnsafeVolume: Bool
    var mappings: Int
    var decisions: Int
    var stages: Bool
  }

  struct Event: Encodable {
    var at: String
    var text: String
  }

  var format = 1
  var made: String
  var system: System
  var store: String
  /// The raw value of the store's status, or `unreadable`.
  var status: String?
  var problems: [String] = []
  var files: [File] = []
  var externalFiles: Int = 0
  var externalBytes: Int64 = 0
  var volume: Volume?
  var database: Database?
  var metadata: Metadata?
  var modelSource: String?
  var history: History?
  var snapshot: Snapshot?
  var entities: [Entity] = []
  var tables: [Table] = []
  var findings: [Finding] = []
  var operation: Operation?
  var previous: [Kept] = []
  var aside: [Kept] = []
  var quarantine: [String] = []
  var configuration: Configuration
  var events: [Event] = []
  var droppedEvents = 0
}
