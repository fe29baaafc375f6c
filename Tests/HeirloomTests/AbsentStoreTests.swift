import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Paths at which no store is: no error says that one still holds data.
struct AbsentStoreTests {
  enum Place: String, CaseIterable, Sendable {
    case belowFile
    case process
    case belowProcess
    case device
    case linkLoop
    case belowLinkLoop
    case danglingLink
    case belowDanglingLink
    case noFolder
    case folder
    case longName
    case longPath
    case fifo

    func url(in directory: TemporaryDirectory) throws -> URL {
      let files = FileManager.default
      func link(_ name: String, to destination: String) throws {
        try files.createSymbolicLink(atPath: directory.file(name).path, withDestinationPath: destination)
      }
      switch self {
      case .belowFile:
        try Data("text".utf8).write(to: directory.file("file.txt"))
        return directory.file("file.txt/Store.sqlite")
      case .process: return URL(fileURLWithPath: "/proc/Store.sqlite")
      case .belowProcess: return URL(fileURLWithPath: "/proc/absent/Store.sqlite")
      case .device: return URL(fileURLWithPath: "/dev/null")
      case .linkLoop, .belowLinkLoop:
        try link("a", to: "b")
        try link("b", to: "a")
        return directory.file(self == .linkLoop ? "a" : "a/Store.sqlite")
      case .danglingLink, .belowDanglingLink:
        try link("link", to: "absent/target")
        return directory.file(self == .danglingLink ? "link" : "link/Store.sqlite")
      case .noFolder: return directory.file("absent/Store.sqlite")
      case .folder:
        try files.createDirectory(at: directory.file("Store.sqlite"), withIntermediateDirectories: false)
        return directory.file("Store.sqlite")
      case .longName: return directory.file(String(repeating: "n", count: 300) + ".sqlite")
      case .longPath:
        return URL(fileURLWithPath: directory.url.path + String(repeating: "/folder", count: 800) + "/Store.sqlite")
      case .fifo:
        try #require(mkfifo(directory.file("Store.sqlite").path, 0o600) == 0)
        return directory.file("Store.sqlite")
      }
    }
  }

  enum Call: String, CaseIterable, Sendable {
    case migrateStore, plan, isMigrationNeeded, status, archive, open, previousVersions, quarantinedRows, setAsideStores
    case pendingNotices, release, restore, repair, verify

    func run(_ url: URL, _ history: ModelHistory) throws {
      let controller = ModelController(storeURL: url)
      let assistant = MigrationAssistant(storeURL: url, modelController: controller, history: history)
      let archive = StoreArchive(storeURL: url)
      switch self {
      case .migrateStore: _ = try assistant.migrateStore()
      case .plan: _ = try assistant.plan()
      case .isMigrationNeeded: _ = try assistant.isMigrationNeeded()
      case .status: _ = try assistant.status()
      case .archive: try controller.archive(history.current)
      case .open: try PersistentStore.open(at: url, history: history).close()
      case .previousVersions: _ = try archive.previousVersions()
      case .quarantinedRows: _ = try archive.quarantinedRows()
      case .setAsideStores: _ = try archive.setAsideStores()
      case .pendingNotices: _ = try archive.pendingNotices()
      case .release: _ = try archive.releasePreviousVersion("0")
      case .restore: _ = try archive.restorePreviousVersion()
      case .repair: _ = try archive.repair()
      case .verify: _ = try archive.verifyStore()
      }
    }
  }

  private let history: ModelHistory

  init() throws {
    history = ModelHistory(
      current: try ManagedObjectModel(entities: [EntityDescription(name: "Note")]), name: "Journal", earlier: [])
  }

  @Test(arguments: Place.allCases, Call.allCases)
  func `no error says that a store holds data where none is`(_ place: Place, _ name: Call) throws {
    let directory = try TemporaryDirectory()
    let url = try place.url(in: directory)
    do {
      try name.run(url, history)
    } catch {
      let error = try #require(error as? any ExplainedError, "\(place) \(name): \(error)")
      switch error.dataLocation {
      case .store, .damagedStore: Issue.record("\(place) \(name): \(error) \(error.recoverySuggestion ?? "")")
      default: break
      }
      #expect(error.recoverySuggestion?.contains("holds") == false, "\(place) \(name)")
      #expect(!error.advice.isEmpty)
    }
  }
}
