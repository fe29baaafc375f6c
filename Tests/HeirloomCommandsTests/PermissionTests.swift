import Foundation
import TestSupport
import Testing

/// Places where the tool may not write or read, as a user without privileges.
@Suite(
  .enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"),
  .enabled(if: PlainUser.isPossible, "no user without privileges can run the tool here"))
struct PermissionTests {
  enum Right: String, CaseIterable, Sendable {
    case folderNotWritable
    case folderNotReadable
    case folderClosed
    case storeReadOnly
    case storeUnreadable
    case companionReadOnly
    case companionClosed
    case previousReadOnly
    case incomingReadOnly
    case lockUnreadable
    case manifestUnreadable
    case snapshotUnreadable
    case supportReadOnly
    case supportClosed
    case externalFileUnreadable

    /// The path whose permissions are taken, with its new mode.
    var change: (path: String, mode: mode_t) {
      let store = FieldStore.name
      let external = ".Diary_SUPPORT/_EXTERNAL_DATA"
      return switch self {
      case .folderNotWritable: ("", 0o555)
      case .folderNotReadable: ("", 0o333)
      case .folderClosed: ("", 0o000)
      case .storeReadOnly: (store, 0o444)
      case .storeUnreadable: (store, 0o000)
      case .companionReadOnly: (store + ".heirloom", 0o555)
      case .companionClosed: (store + ".heirloom", 0o000)
      case .previousReadOnly: (store + ".heirloom/previous", 0o555)
      case .incomingReadOnly: (store + ".heirloom/incoming", 0o555)
      case .lockUnreadable: (store + ".heirloom/lock", 0o000)
      case .manifestUnreadable: (store + ".heirloom/manifest.json", 0o000)
      case .snapshotUnreadable: (store + ".heirloom/model.json.gz", 0o000)
      case .supportReadOnly: (".Diary_SUPPORT", 0o555)
      case .supportClosed: (external, 0o000)
      case .externalFileUnreadable: (external + "/0F2E4A52-6A0B-4B7C-9C55-0A4C2B4B2D11", 0o000)
      }
    }

    /// True when the store can still be migrated.
    var isHarmless: Bool {
      switch self {
      // A link needs no right to read its target.
      case .snapshotUnreadable, .supportReadOnly, .externalFileUnreadable: true
      default: false
      }
    }
  }

  private static func picture(_ folder: URL) throws -> [String: String] {
    var picture: [String: String] = [:]
    let paths = (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []) + [""]
    // SQLite's index of the -wal may be made and stay; it holds nothing.
    for path in paths where !path.hasSuffix("-shm") {
      let url = folder.appendingPathComponent(path)
      var status = stat()
      #expect(lstat(url.path, &status) == 0)
      let isFile = status.st_mode & S_IFMT == S_IFREG
      picture[path] =
        "\(status.st_mode) \(status.st_uid) " + (isFile ? try Data(contentsOf: url).base64EncodedString() : "")
    }
    return picture
  }

  @Test(arguments: Right.allCases, LongTests.areOn ? FieldStore.Shape.allCases : [.wal])
  func `a right that is missing is told, and nothing is changed`(right: Right, shape: FieldStore.Shape) throws {
    // The superuser of this process reads files that the tool can't; without one, the pictures would lack files.
    let field = try FieldStore(shape)
    let directory = try TemporaryDirectory()
    let folder = directory.file("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let store = try field.place(in: folder)
    let companion = store.path + ".heirloom"
    let external = folder.appendingPathComponent(".Diary_SUPPORT/_EXTERNAL_DATA")
    for path in [companion, companion + "/previous", companion + "/incoming", external.path] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try Data("picture".utf8).write(to: external.appendingPathComponent("0F2E4A52-6A0B-4B7C-9C55-0A4C2B4B2D11"))
    try Data().write(to: URL(fileURLWithPath: companion + "/lock"))
    for name in ["manifest.json", "model.json.gz"] where right.change.path.hasSuffix(name) {
      try Data("{}".utf8).write(to: URL(fileURLWithPath: companion + "/" + name))
    }
    try own(folder)
    let target = right.change.path.isEmpty ? folder : folder.appendingPathComponent(right.change.path)
    let mode = try #require(try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int)
    #expect(chmod(target.path, right.change.mode) == 0)
    defer { chmod(target.path, mode_t(mode)) }
    let before = geteuid() == 0 ? try Self.picture(folder) : [:]

    let outcome = try PlainUser.tool.migrate(store, to: field.models)
    if right.isHarmless {
      #expect(outcome.code == 0 && outcome.outcome == "migrated", outcome.summary)
    } else {
      #expect(outcome.code == 1, outcome.summary)
      #expect(outcome.message.count > 20, outcome.summary)
      // If a missing right shows only after the hold, the content stays, but no longer in the -wal.
      if geteuid() == 0, right != .supportClosed { #expect(try Self.picture(folder) == before, outcome.summary) }
      chmod(target.path, mode_t(mode))
      #expect(field.isOld(store), outcome.summary)
      // Once the right is given, the next run completes.
      if right == .manifestUnreadable { try FileManager.default.removeItem(atPath: companion + "/manifest.json") }
      let next = try PlainUser.tool.migrate(store, to: field.models)
      #expect(next.code == 0 && next.outcome == "migrated", next.summary)
    }
    chmod(target.path, mode_t(mode))
    field.checkMigrated(store, outcome.summary)
  }

  private func own(_ folder: URL) throws {
    guard geteuid() == 0 else { return }
    let paths = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
    for path in paths + [""] {
      #expect(lchown(folder.appendingPathComponent(path).path, PlainUser.identifier, PlainUser.identifier) == 0)
    }
  }

  @Test(.enabled(if: MountedVolume.isPossible, MountedVolume.absence), arguments: FieldStore.Shape.allCases)
  func `a volume mounted for reading is left byte for byte, and told`(shape: FieldStore.Shape) throws {
    let field = try FieldStore(shape)
    let volume = try MountedVolume(options: "size=256m")
    let store = try field.place(in: volume.url)
    let before = try Self.picture(volume.url)
    try volume.remount("ro")
    let outcome = try ToolProcess().migrate(store, to: field.models)
    #expect(outcome.code == 1, outcome.summary)
    #expect(outcome.message.count > 20, outcome.summary)
    #expect(try Self.picture(volume.url) == before)
    try volume.remount("rw")
    #expect(try ToolProcess().migrate(store, to: field.models).outcome == "migrated")
    field.checkMigrated(store)
  }
}

enum PlainUser {
  /// A user who owns nothing, or the user of this process if that isn't the superuser.
  static let identifier: uid_t = geteuid() == 0 ? 65534 : geteuid()
  static let tool = ToolProcess(
    wrapper: geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [])
  /// That user can reach the tool and the models.
  static let isPossible: Bool = {
    guard let field = try? FieldStore(.rollback), let directory = try? TemporaryDirectory() else { return false }
    let outcome = try? tool.migrate(directory.file("nothing"), to: field.models)
    return outcome?.failure == "missing"
  }()
}
