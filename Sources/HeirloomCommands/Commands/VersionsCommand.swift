import Foundation
import Heirloom

extension Command {
  /// Lists what is kept.
  static let versions = Command(
    name: "versions", summary: "retained versions, the newest first, and what was moved aside",
    details: [
      "Each of them is a complete set in a folder of its own, whose store opens by itself.",
      "A store that the app could not open may have been moved aside, with all that belongs to it: heirloom restore STORE"
        + " --set-aside ID --to MODEL brings it to its place again.",
    ],
    example: "heirloom versions Journal.sqlite", positionals: ["STORE"], requiredCount: 1, run: VersionsCommand.run)
}

/// Lists what is kept.
enum VersionsCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = console.path(arguments.positionals[0])
    do {
      let keeper = try StoreKeeper(path: path)
      let versions = try keeper.versions()
      let quarantine = try keeper.quarantine()
      let sets = try keeper.setsAside().map(MovedAside.init)
      return CommandReport(
        lines: lines(versions, path: path, style: console.style) + quarantine.map { "Rows in quarantine: \($0)" }
          + MovedAside.lines(sets, path: path, style: console.style),
        members: members(versions) + [
          ("setAside", .list(sets.map { .object($0.members) })), ("quarantine", .texts(quarantine)),
        ])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }

  private static func members(_ versions: [PreviousVersion]) -> OutputMembers {
    let list = versions.map { version in
      OutputValue.object([
        ("id", .text(version.id)), ("path", .text(version.storeURL.path)),
        ("checksum", .optional(checksum(version))), ("date", .text(version.date.formatted(.iso8601))),
        ("bytes", .integer(version.byteCount)),
      ])
    }
    return [("versions", .list(list))]
  }

  /// The checksum that was noted when the version was kept, else what the version's store says of itself.
  private static func checksum(_ version: PreviousVersion) -> String? {
    if let checksum = version.versionChecksum { return checksum }
    guard let metadata = try? StoreMetadata(contentsOf: version.storeURL) else { return nil }
    return ManagedObjectModel.versionChecksum(of: metadata.versionHashes)
  }

  private static func lines(_ versions: [PreviousVersion], path: String, style: TextStyle) -> [String] {
    guard !versions.isEmpty else { return ["\(path): no previous version is kept."] }
    var table = TextTable(
      header: ["Version", "kept at (UTC)", "size", "model's checksum"], alignments: [.left, .left, .right, .left])
    for version in versions {
      table.add([
        version.id, version.date.formatted(.iso8601), sizeText(version.byteCount), checksum(version) ?? "unknown",
      ])
    }
    return ["\(style.bold(path)): \(counted(Int64(versions.count), "previous version")), the newest first"]
      + table.lines() + [
        "heirloom restore \(shellWord(path)) --version ID brings one back; the start of the ID is enough."
      ]
  }
}

/// Reaches what is kept of a store, without a model.
struct StoreKeeper {
  private let path: String
  private let assistant: MigrationAssistant

  /// Creates a keeper.
  ///
  /// - Parameter path: The store's file, which may be gone.
  /// - Throws: `ModelError`.
  init(path: String) throws {
    self.path = path
    let url = URL(fileURLWithPath: path)
    // Listing and restoring ask no model, so the assistant gets one without entities.
    assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: try ManagedObjectModel(entities: [])))
  }

  /// The versions, the newest first.
  ///
  /// - Throws: `StoreError` if there is neither a store nor anything that is kept of one; `MigrationAssistantError`.
  func versions() throws -> [PreviousVersion] {
    let versions = try assistant.previousVersions()
    if versions.isEmpty, try setsAside().isEmpty {
      switch PathKind(path) {
      case .database: break
      case .missing: throw StoreError(path: path, problem: .missing)
      case .folder, .special: throw StoreError(path: path, problem: .notFile)
      case .emptyFile: throw StoreError(path: path, problem: .empty)
      case .unreadable(let reason): throw StoreError(path: path, problem: .unreadable(reason: reason))
      case .file: throw StoreError(path: path, problem: .notDatabase)
      }
    }
    return versions
  }

  /// The stores that were moved aside, the oldest first.
  func setsAside() throws -> [(set: AsideSet, storePath: String)] {
    // A folder that is not there holds nothing.
    guard let location = try? StoreLocation(resolving: path, files: POSIXFileOperations()) else { return [] }
    return try StoreVault(location).asideSets().map { ($0, $0.storePath(named: location.name)) }
  }

  /// The files with rows that migrations left out.
  func quarantine() throws -> [String] {
    try assistant.quarantinedRows().map(\.path)
  }

  /// Brings a version back.
  ///
  /// - Parameters:
  ///   - prefix: The start of its name; `nil` for the newest.
  ///   - console: Tells when to stop, and is told what is under way.
  /// - Returns: The version that was restored, and the one that was kept.
  /// - Throws: `MigrationAssistantError`.
  func restore(
    _ prefix: String?, console: Console
  ) throws -> (restored: PreviousVersion, retained: PreviousVersion?) {
    console.progress.begin("Bringing the version back")
    return try console.interruption.cancelling(assistant.progress) { try assistant.restorePreviousVersion(prefix) }
  }
}
