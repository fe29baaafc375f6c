import Heirloom
import HeirloomOutput

extension Command {
  static let squash = Command(
    name: "squash",
    summary: "give up a model's oldest versions: stores of those before a floor are refused",
    details: [
      "MODEL is an .xcdatamodeld with its lock, or a folder with both. The floor is noted in the lock, which ships with the app: from"
        + " then on a store of an earlier version is refused with a sentence that names both versions, and nothing of it is changed."
        + " heirloom check verifies this, and asks for no model, mapping or consent before the floor.",
      "No file is removed: those that are no longer needed are listed. The lock keeps the versions' names and checksums, by which"
        + " their stores are recognized. Released versions of the app use their own lock.",
      "The floor can be lowered again while the models exist; at the first version it is removed.",
    ],
    options: [
      .exclude,
      Option(
        name: "--floor", value: "VERSION", isRequired: true,
        summary: "the oldest version whose stores are still migrated"),
    ],
    example: "heirloom squash Snapshots/Journal --floor V2", positionals: ["MODEL"], requiredCount: 1,
    run: SquashCommand.run)
}

enum SquashCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let floor = arguments.value("--floor") ?? ""
    let list = try console.versions(at: path)
    guard var lock = list.lock, let lockPath = list.lockPath else {
      let folder = ModelFile.folder(of: path)
      throw refusal(
        "\(path) has no lock with the order of the shipped versions",
        "heirloom snapshot \(shellWord(path)) --history \(shellWord(folder)) makes one.")
    }
    let names = lock.namedVersions.map(\.name)
    let current = list.currentVersionName ?? ""
    // A current version that isn't shipped yet comes after all others.
    let allowed = names.prefix { $0 != current } + (names.contains(current) ? [current] : [])
    guard let position = allowed.firstIndex(of: floor) else {
      throw UsageError.invalidValue(
        option: "--floor", value: floor,
        expected: "one of the versions that \(lockPath) fixes, up to the current one (\(listText(Array(allowed))))")
    }
    let before = lock.floorName
    lock.floor = position == 0 ? nil : lock.identifier(of: floor)
    if let missing = lock.missingNames(where: { list.version(named: $0) != nil }).first {
      throw refusal(
        "The model of \"\(missing)\" is missing: its stores could not be migrated",
        "Restore it first, or name a later floor.")
    }
    if before != lock.floorName { try SnapshotFile(path: lockPath, files: POSIXFileOperations()).write(lock.encoded()) }
    return report(lock, at: lockPath, before: before, list, in: ModelFile.folder(of: lockPath), of: path, console)
  }

  private static func report(
    _ lock: VersionLock, at lockPath: String, before: String?, _ list: ModelVersionList, in folder: String,
    of path: String, _ console: Console
  ) -> CommandReport {
    let refused = lock.versionsBelowFloor.map(\.name)
    let snapshots = (try? SnapshotFolder(folder).snapshots) ?? [:]
    let needless = refused.flatMap { name in
      [list.version(named: name)?.file.path, snapshots[name]?.path].compactMap(\.self)
    }
    let files = needless.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let isNew = before != lock.floorName
    var lines: [String] = []
    if let floor = lock.floorName {
      lines.append(
        "\(console.style.bold(lockPath)): the floor is \(isNew ? "\"\(floor)\" now" : "\"\(floor)\" already"). Stores of"
          + " \(listText(refused.map { "\"\($0)\"" })) are refused by releases with this lock; nothing of them is changed."
      )
      lines.append(
        "A user who still has one needs an earlier release in between. heirloom check \(shellWord(path)) tries it.")
    } else {
      lines.append(
        "\(console.style.bold(lockPath)): there is no floor\(isNew ? " any more" : ""); stores of all versions are migrated."
      )
    }
    if !files.isEmpty {
      lines.append("These files are no longer needed; they were not removed:")
      lines += files.map { "  " + $0 }
    }
    return CommandReport(
      lines: lines,
      members: [
        ("lock", .text(lockPath)), ("floor", .optional(lock.floorName)), ("previousFloor", .optional(before)),
        ("refused", .texts(refused)), ("needlessFiles", .texts(files)),
      ])
  }

  private static func refusal(_ message: String, _ suggestion: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "noFloor", coreDataCode: nil, message: message + ". Nothing was changed.",
      suggestion: suggestion)
  }
}
