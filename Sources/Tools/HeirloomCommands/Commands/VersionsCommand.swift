import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let versions = Command(
    name: "versions", summary: "previous versions, the newest first, and set-aside stores",
    details: [
      "A pinned one holds content that its migration lost without consent, and is never removed until --release unpins it.",
      "The newest is read, and if it is damaged the one before, so that the command at the end works.",
      "Each is a complete set of files in its own folder, and its store can be opened there.",
      "A store that the app could not open may have been moved aside, with all that belongs to it: heirloom restore STORE"
        + " --set-aside ID --to MODEL puts it back in its place.",
    ],
    options: [
      .exclude,
      Option(
        name: "--release", value: "ID", summary: "let a pinned version be removed by a later migration, like any other"),
      Option(
        name: "--model", value: "MODEL", isRepeatable: true,
        summary: "a model that names versions kept without a name"),
    ],
    example: "heirloom versions Journal.sqlite", positionals: ["STORE"], requiredCount: 1, run: VersionsCommand.run)
}

enum VersionsCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    do {
      let archive = StoreArchive(path: path)
      let known = try NamedModel.likeliestFirst(at: arguments.all("--model"), console: console)
      let names = Dictionary(known.map { ($0.model.versionChecksum(), $0.name) }) { first, _ in first }
      let released = try arguments.value("--release").map { id in try archive.releasePreviousVersion(id).id }
      let versions = try archive.versionsOfStore().map { version in
        let path = version.storeURL.path
        return (
          version, VersionLabel(version.versionName, checksum: version.versionChecksum, storedAt: path, names: names)
        )
      }
      let quarantine = try archive.quarantinedRows().map(\.path)
      let sets = try archive.movedAside().map { SetAsideText($0, names: names) }
      return CommandReport(
        lines: (released.map {
          ["\($0) is no longer pinned: a later launch removes it in its turn, like any other."]
        } ?? [])
          + lines(versions, path: path, style: console.style) + quarantine.map { "Rows in quarantine: \($0)" }
          + SetAsideText.lines(sets, path: path, style: console.style),
        members: members(versions) + [
          ("setAside", .list(sets.map { .object($0.members) })), ("quarantine", .texts(quarantine)),
          ("released", .optional(released)),
        ])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }

  private static func members(_ versions: [(PreviousVersion, VersionLabel)]) -> OutputMembers {
    let list = versions.map { version, label in
      OutputValue.object(
        [("id", .text(version.id)), ("path", .text(version.storeURL.path))] + label.members + [
          ("date", .text(version.date.formatted(.iso8601))), ("bytes", .integer(version.byteCount)),
          ("pinned", version.isPinned ? .object(pin(of: version)) : .null),
          ("interrupted", .boolean(version.holdsInterruptedChange)),
        ])
    }
    return [("versions", .list(list))]
  }

  /// Losses whose content only the pinned version has; empty if it holds the rows of a replaced
  /// store.
  private static func pin(of version: PreviousVersion) -> OutputMembers {
    let alone = version.alone.map { content in
      OutputValue.object([
        ("kind", .text(content.kind)), ("entity", .text(content.entity)), ("property", .optional(content.property)),
        ("rows", .integer(content.rows)),
      ])
    }
    return [("losses", .list(alone)), ("unlisted", .integer(Int64(version.unlistedLossCount)))]
  }

  private static func lines(
    _ labelled: [(PreviousVersion, VersionLabel)], path: String, style: TextStyle
  ) -> [String] {
    let versions = labelled.map(\.0)
    guard !versions.isEmpty else { return ["\(path): no previous version is kept."] }
    var table = TextTable(
      header: ["Version", "kept at (UTC)", "size", "model"], alignments: [.left, .left, .right, .left])
    for (version, label) in labelled {
      table.add([version.id, version.date.formatted(.iso8601), sizeText(version.byteCount), label.words])
    }
    return ["\(style.bold(path)): \(counted(Int64(versions.count), "previous version")), the newest first"]
      + table.lines() + versions.compactMap { $0.pinWords(path: path) }
      + versions.filter(\.holdsInterruptedChange).map {
        "\($0.id) is the store with a change that was interrupted, before that was undone."
      } + returning(versions, to: path)
  }

  private static func returning(_ versions: [PreviousVersion], to path: String) -> [String] {
    let damaged = Array(versions.prefix { !$0.isSound })
    // A version that is in use, or has a change to roll back, is not damaged.
    let lines = damaged.compactMap { version in version.fault.map { "\(version.id) can't be read whole: \($0)." } }
    guard let sound = versions.dropFirst(damaged.count).first else {
      return lines + ["heirloom doctor \(shellWord(path)) names the command that reads the rest."]
    }
    let which = damaged.isEmpty ? "the newest" : "the newest that can be read whole"
    return lines + [
      "heirloom restore \(shellWord(path)) --version \(sound.id) brings \(which) back; the start of a name is enough."
    ]
  }
}

extension StoreArchive {
  init(path: String) {
    self.init(storeURL: URL(fileURLWithPath: path))
  }

  /// Throws `StoreError` if nothing is kept and there is no store either.
  func versionsOfStore() throws -> [PreviousVersion] {
    let versions = try previousVersions()
    if versions.isEmpty, try movedAside().isEmpty {
      let path = storeURL.path
      switch PathKind(path) {
      case .database, .emptyFile: break
      case .missing: throw StoreError(path: path, problem: .missing)
      case .folder, .special: throw StoreError(path: path, problem: .notFile)
      case .unreadable(let reason): throw StoreError(path: path, problem: .unreadable(reason: reason))
      case .file: throw StoreError(path: path, problem: .notDatabase)
      }
    }
    return versions
  }

  func movedAside() throws -> [SetAsideStore] {
    let folder = storeURL.deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try setAsideStores()
  }

  /// `prefix` starts the version's name, `nil` for the newest; `notes` were logged on the way.
  func restore(
    _ prefix: String?, console: Console
  ) throws -> (restored: PreviousVersion, replaced: ReplacedStore?, notes: [String]) {
    console.progress.begin("Bringing the version back")
    let log = EventLog(console: console)
    assistant.delegate = log
    let result = try console.interruption.cancelling(progress) { try restore(prefix) }
    return (result.restored, result.replaced, log.notes)
  }
}
