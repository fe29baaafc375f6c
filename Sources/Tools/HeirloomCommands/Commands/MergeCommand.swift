import Heirloom
import HeirloomCompare
import HeirloomOutput

extension Command {
  static let merge = Command(
    name: "merge",
    usage: "BASE OURS THEIRS [--path PATH]",
    summary: "merge a model, snapshot, lock or .xccurrentversion; a merge driver for git",
    details: [
      "OURS is replaced by what both branches made of BASE. Entities and properties of a model are merged one by one, whatever else is"
        + " in the file; it is a conflict where both change, add or rename one property differently, or one changes what the other"
        + " removes. A lock gets the versions of both branches; of two current versions the one that is later by name is taken.",
      "The exit code is 1 for conflicts: each is named, and OURS gets conflict markers where possible. An empty BASE means that both"
        + " branches added the file: a new version is then compared with the one before it in the folder of PATH.",
      "As git's driver: git config merge.heirloom.driver 'heirloom merge %O %A %B --path %P', and lines such as **/*.xcdatamodel/contents"
        + " merge=heirloom in .gitattributes.",
    ],
    options: [
      Option(name: "--path", value: "PATH", summary: "the file's path in the repository, which determines its kind")
    ],
    example: "heirloom merge base/contents ours/contents theirs/contents", positionals: ["BASE", "OURS", "THEIRS"],
    requiredCount: 3, run: MergeCommand.run)
}

enum MergeCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let paths = try arguments.positionals.map(console.path)
    let path = try arguments.value("--path").map(console.path) ?? paths[1]
    guard let kind = HistoryMerge.Kind(path: path) else {
      throw CommandFailure(
        exitCode: .failed, code: "unknownKind", coreDataCode: nil,
        message: "\(path) can't be merged; \(paths[1]) was left as it is.",
        suggestion: "A model's contents, .xccurrentversion, lock.json and snapshots (.json) can.")
    }
    let files = POSIXFileOperations()
    let (base, ours) = (try files.readFile(paths[0], limit: limit), try files.readFile(paths[1], limit: limit))
    let theirs = try files.readFile(paths[2], limit: limit)
    let before = base.isEmpty ? try versionBefore(path, kind, files) : nil
    var merge = HistoryMerge(kind, base: before?.bytes ?? base, ours: ours, theirs: theirs)
    if let before, ours != theirs {
      merge.note(
        "Both branches add the version; the changes of each are relative to \"\(before.name)\", the one before it.")
    }
    if kind == .source, merge.conflicts.isEmpty, isShipped(path, as: ours, and: merge.bytes) {
      merge.refuseShipped(ours, theirs)
    }
    if merge.bytes != ours {
      // Symbolic links were rejected when the file was read.
      let attributes = FileAttributes(mode: try files.status(of: paths[1])?.mode ?? 0o644)
      try SnapshotFile(path: paths[1], files: files).write(merge.bytes, attributes: attributes)
    }
    for note in merge.notes { console.log("note: \(path): \(note)") }
    return report(merge, path: path)
  }

  private static let limit = 64 << 20

  private static func report(_ merge: HistoryMerge, path: String) -> CommandReport {
    let members: OutputMembers = [
      ("path", .text(path)), ("merged", .boolean(merge.conflicts.isEmpty)),
      (
        "conflicts",
        .list(merge.conflicts.map { .object([("place", .text($0.place)), ("reason", .text($0.reason))]) })
      ), ("notes", .texts(merge.notes)),
    ]
    guard !merge.conflicts.isEmpty else { return CommandReport(members: members) }
    var failure = CommandFailure(
      exitCode: .failed, code: "mergeConflict", coreDataCode: nil,
      message: "\(path): \(counted(Int64(merge.conflicts.count), "conflict")).",
      suggestion: "The file contains both branches' versions between conflict markers.")
    failure.list = (failure.message, merge.conflicts.map { ["\($0.place): \($0.reason)"] })
    return CommandReport(members: members, failure: failure)
  }

  private static func versionBefore(
    _ path: String, _ kind: HistoryMerge.Kind, _ files: POSIXFileOperations
  ) throws -> (name: String, bytes: [UInt8])? {
    let version = ModelFile.folder(of: path)
    let (folder, name, ending) =
      kind == .source
      ? (ModelFile.folder(of: version), version, ".xcdatamodel") : (version, path, ".json")
    guard kind == .source || kind == .snapshot, name.hasSuffix(ending), case .folder = PathKind(folder) else {
      return nil
    }
    let own = String(name.dropFirst(folder.utf8.count + 1))
    let before = try files.names(in: folder)
      .filter {
        $0.hasSuffix(ending) && !$0.hasPrefix(".") && !$0.hasSuffix("lock.json")
          && NaturalOrder.precedes($0.dropping(ending), own.dropping(ending))
      }
      .max { NaturalOrder.precedes($0.dropping(ending), $1.dropping(ending)) }
    guard let before else { return nil }
    let file = folder + "/" + before + (kind == .source ? "/contents" : "")
    return (before.dropping(ending), try files.readFile(file, limit: limit))
  }

  /// True if the lock beside the bundle lists our side's version, and the merged version differs
  /// from it.
  private static func isShipped(_ path: String, as ours: [UInt8], and merged: [UInt8]) -> Bool {
    let version = ModelFile.folder(of: path)
    guard let list = try? ModelVersionList(ModelFile.folder(of: version)),
      let locked = list.versions.first(where: { $0.file.path == version })?.lockedChecksum,
      let mine = try? ModelSourceReader.read(ours).model, let result = try? ModelSourceReader.read(merged).model
    else { return false }
    return mine.versionChecksum() == locked && result.versionChecksum() != locked
  }
}

extension String {
  fileprivate func dropping(_ ending: String) -> String { String(dropLast(ending.count)) }
}
