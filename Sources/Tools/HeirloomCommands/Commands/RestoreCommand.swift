import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let restore = Command(
    name: "restore",
    usage:
      "STORE [--version ID | --set-aside ID --to MODEL [--with MODEL]… [--model MODEL]… [--exclude FOLDER]… [--mapping FILE]… [--decide"
      + " ENTITY.PROPERTY=CHOICE]… [--accept-losses] [--accept-version]]",
    summary: "put a previous version back; the store there is kept too",
    details: [
      "Without --version the newest is restored. The start of an ID is enough if it is unique.",
      "A set-aside store (heirloom versions STORE lists them) is migrated to the model of --to in its folder, and a copy"
        + " is put in its place. It lacks what was written to the new store since: the new store is kept as a version that no"
        + " later run removes. The set stays in its folder, and can return only once.",
    ],
    options: [
      Option(name: "--version", value: "ID", summary: "the version, as heirloom versions names it"),
      Option(
        name: "--set-aside", value: "ID", summary: "the set-aside store, as heirloom versions names it"),
      .to, .with, .model, .exclude, .mapping, .decide, .acceptLosses, .acceptVersion,
    ],
    example: "heirloom restore Journal.sqlite --version 20261121T1015", positionals: ["STORE"], requiredCount: 1,
    run: RestoreCommand.run)
}

enum RestoreCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    do {
      let archive = StoreArchive(path: path)
      if let prefix = arguments.value("--set-aside") {
        return try returning(prefix, to: path, archive: archive, arguments, console)
      }
      for option in ["--to", "--with", "--model", "--mapping", DecisionArgument.option]
      where !arguments.all(option).isEmpty {
        throw UsageError.missingOption("--set-aside", value: "ID")
      }
      _ = try archive.versionsOfStore()
      let result = try archive.restore(arguments.value("--version"), console: console)
      var folder: String?
      if case .movedAside(let place) = result.replaced { folder = place }
      let version = VersionLabel(
        result.restored.versionName, checksum: result.restored.versionChecksum, storedAt: result.restored.storeURL.path)
      return CommandReport(
        lines: ["\(console.style.green("Restored")) \(result.restored.id) (\(version.words)) as \(path)."]
          + lines(on: result.replaced, path: path),
        members: [("restored", .text(result.restored.id)), ("restoredName", .optional(version.name))]
          + members(on: result.replaced) + [("movedAside", .optional(folder)), ("warnings", .texts(result.notes))])
    } catch let error as UsageError {
      throw error
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }

  private static func lines(on replaced: ReplacedStore?, path: String) -> [String] {
    switch replaced {
    case nil: return ["There was no store at \(path), so none was replaced."]
    case .movedAside(let folder):
      let file = PathText.join(folder, PathText.split(path).name)
      return [
        "The file that was there can't be read as a store: it is \(file) now, with the files that were beside it.",
        "heirloom doctor \(shellWord(file)) names the command that reads the rest of it.",
      ]
    case .kept(let version):
      return [
        "The store that was there is kept as \(version.id): heirloom restore \(shellWord(path)) --version \(version.id)"
          + " brings it back."
      ] + (version.pinWords(path: path).map { [$0] } ?? [])
    }
  }

  private static func members(on replaced: ReplacedStore?) -> OutputMembers {
    var version: PreviousVersion?
    if case .kept(let kept) = replaced { version = kept }
    return [("retained", .optional(version?.id)), ("pinned", .boolean(version?.isPinned ?? false))]
  }

  private static func returning(
    _ prefix: String, to path: String, archive: StoreArchive, _ arguments: Arguments, _ console: Console
  ) throws -> CommandReport {
    if let version = arguments.value("--version") {
      throw UsageError.invalidValue(option: "--version", value: version, expected: "no --set-aside beside it")
    }
    let request = try MigrationRequest(arguments, console: console)
    let sets = try archive.movedAside()
    let matches = sets.filter { $0.id.hasPrefix(prefix) }
    guard matches.count == 1, let match = matches.first else {
      let names = (matches.isEmpty ? sets : matches).map(\.id)
      throw MigrationAssistantError.noSuchVersion(
        storePath: path,
        reason: "\"\(prefix)\" does not name exactly one store that was moved aside; possible: "
          + (names.isEmpty ? "none" : names.joined(separator: ", ")))
    }
    let id = match.id
    let outcome = try StoreMigration(request: request, console: console)
      .putBack(id, storedAt: match.storeURL.path, to: path)
    guard case .putBack(let migration, let replaced) = outcome else {
      var version: String?
      if case .putBackBefore(let replaced) = outcome { version = replaced }
      return CommandReport(
        lines: ["\(id) has returned before: nothing to do."],
        members: [
          ("outcome", .text("returnedBefore")), ("restored", .text(id)), ("retained", .optional(version)),
        ])
    }
    var lines = ["\(console.style.green("Restored")) \(id), which was moved aside, as \(path)."]
    if let migration {
      let source = VersionLabel(match.versionName, checksum: migration.sourceChecksum)
      lines.append(
        "It was migrated to \"\(request.history.currentName)\" from \(source.words) in \(durationText(migration.seconds))."
      )
      lines += PlanText(plan: migration.plan).findings(console.style, difference: nil) + [""]
      lines += migration.quarantine.map { "Rows in quarantine: \($0.path)" }
    }
    return CommandReport(
      lines: lines + Self.lines(on: replaced.map { .kept($0) }, path: path),
      members: [("outcome", .text("returned")), ("restored", .text(id))] + members(on: replaced.map { .kept($0) }) + [
        ("from", .optional(migration?.sourceChecksum)), ("fromName", .optional(match.versionName)),
        ("to", .text(request.history.current.versionChecksum())), ("toName", .text(request.history.currentName)),
        ("warnings", .texts(migration?.plan.warnings ?? [])),
        ("quarantine", .texts(migration?.quarantine.map(\.path) ?? [])),
      ] + PlanText.lossMembers(of: migration?.plan))
  }
}
