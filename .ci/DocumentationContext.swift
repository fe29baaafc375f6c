// What the examples of the documentation don't declare themselves, so that they can be type-checked; nothing of it ever runs.
import Foundation
import Heirloom

private func absent<Value>() -> Value { fatalError("examples are type-checked only") }

var storeURL: URL { absent() }
var cacheFolder: URL { absent() }
var accountsURL: URL { absent() }
var notesURL: URL { absent() }
var modelURL: URL { absent() }
var url: URL { absent() }
var damaged: URL { absent() }
var salvaged: URL { absent() }
var models: URL { absent() }
var history: ModelHistory { absent() }
var controller: ModelController { absent() }
var assistant: MigrationAssistant { absent() }
var configuration: MigrationAssistant.Configuration {
  get { absent() }
  set {}
}
var note: EntityDescription {
  get { absent() }
  set {}
}
var first: ManagedObjectModel { absent() }
var source: ManagedObjectModel { absent() }
var destination: ManagedObjectModel { absent() }
var store: SetAsideStore { absent() }
var context: ManagedObjectContext { absent() }
var aircraft: ManagedObject { absent() }
var bytes: [UInt8] { absent() }
var version2: ManagedObjectModelReference { absent() }
var additions: ManagedObjectModelReference { absent() }
var version3: ManagedObjectModelReference { absent() }
var colors: StoreMigrationStage { absent() }
var copy: StoreMigrationStage { absent() }
var removal: StoreMigrationStage { absent() }

struct NotCopied: Error { let aircraft: String? }
final class RecordsToDayRecord: EntityMigrationPolicy {}

// As `heirloom generate` writes it.
enum JournalModel {
  struct Note: TypedObject {
    static let entityName = "Note"
    static var properties: Properties { Properties() }
    let managedObject: ManagedObject
    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }
    static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self { absent() }
    var title: String { get throws(ManagedObjectError) { try managedObject.typedValue("title") } }
    func set(title value: String) throws(ManagedObjectError) {}
    struct Properties { var title: TypedAttribute<String> { TypedAttribute("title") } }
  }
}

// What an app does.
func show(_ notice: MigrationNotice) {}
func show(_ notice: MigrationNotice, whenRead: () throws -> Void) {}
func showsPlaceholder(_ text: String) {}
func showProgress(_ progress: Progress) {}
func userWants(_ date: Date, _ objects: Int64) -> Bool { absent() }
func personWantsBack(_ date: Date, _ losses: [MigrationLoss]) -> Bool { absent() }

// The shape of UIKit, as far as the examples go.
@MainActor final class UIApplication {
  static let shared = UIApplication()
  func beginBackgroundTask(withName: String?, expirationHandler: (@MainActor @Sendable () -> Void)?) -> Int { 0 }
  func endBackgroundTask(_ task: Int) {}
}

// The shapes of swift-log and swift-metrics, as far as the examples go.
struct Logger: Sendable {
  enum Level: String { case trace, debug, info, notice, warning, error, critical }
  enum MetadataValue { case string(String) }
  struct Message: ExpressibleByStringInterpolation { init(stringLiteral: String) {} }
  init(label: String) {}
  func log(level: Level, _ message: Message, metadata: [String: MetadataValue]?) {}
}
struct Counter {
  init(label: String, dimensions: [(String, String)]) {}
  func increment(by: some BinaryInteger) {}
}
struct Timer {
  init(label: String, dimensions: [(String, String)]) {}
  func recordSeconds(_ seconds: some BinaryFloatingPoint) {}
}
struct Gauge {
  init(label: String, dimensions: [(String, String)]) {}
  func record(_ value: some BinaryFloatingPoint) {}
}
