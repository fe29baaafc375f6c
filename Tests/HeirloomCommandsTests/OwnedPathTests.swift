import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// Unexpected things at every path that a migration reads, makes or replaces.
///
/// In every case the run ends, reports the problem or migrates, keeps every row, and changes no target of a link.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"))
struct OwnedPathTests {
  enum Kind: String, CaseIterable, Sendable {
    case linkToFile
    case linkToFolder
    case linkToNothing
    case secondName
    case pipe
    case socket
    case folder
    case foreignFile
    case emptyFile
  }

  /// Relative to the store's folder.
  enum Place: String, CaseIterable, Sendable {
    case store = "Diary.sqlite"
    case log = "Diary.sqlite-wal"
    case index = "Diary.sqlite-shm"
    case journal = "Diary.sqlite-journal"
    case companion = "Diary.sqlite.heirloom"
    case lock = "Diary.sqlite.heirloom/lock"
    case manifest = "Diary.sqlite.heirloom/manifest.json"
    case manifestDraft = "Diary.sqlite.heirloom/manifest.json.tmp"
    case snapshot = "Diary.sqlite.heirloom/model.json.gz"
    case snapshotDraft = "Diary.sqlite.heirloom/model.json.gz.00112233445566778899aabbccddeeff.tmp"
    case previous = "Diary.sqlite.heirloom/previous"
    case version = "Diary.sqlite.heirloom/previous/20200101T000000Z-0123abcd"
    case prunedVersion = "Diary.sqlite.heirloom/previous/.pruned-20200101T000000Z-0123abcd"
    case versionStore = "Diary.sqlite.heirloom/previous/20200101T000000Z-0123abcd/Diary.sqlite"
    case versionManifest = "Diary.sqlite.heirloom/previous/20200101T000000Z-0123abcd/manifest.json"
    case versionSupport = "Diary.sqlite.heirloom/previous/20200101T000000Z-0123abcd/.Diary_SUPPORT"
    case versionExternalFolder =
      "Diary.sqlite.heirloom/previous/20200101T000000Z-0123abcd/.Diary_SUPPORT/_EXTERNAL_DATA"
    case quarantine = "Diary.sqlite.heirloom/quarantine"
    case incompatible = "Diary.sqlite.heirloom/incompatible"
    case incoming = "Diary.sqlite.heirloom/incoming"
    case candidateFolder = "Diary.sqlite.heirloom/incoming/00112233445566778899aabbccddeeff"
    case candidate = "Diary.sqlite.heirloom/incoming/00112233445566778899aabbccddeeff/Diary.sqlite"
    case support = ".Diary_SUPPORT"
    case externalFolder = ".Diary_SUPPORT/_EXTERNAL_DATA"
    case externalFile = ".Diary_SUPPORT/_EXTERNAL_DATA/0F2E4A52-6A0B-4B7C-9C55-0A4C2B4B2D11"
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let place: Place
    let kind: Kind
    let shape: FieldStore.Shape

    var testDescription: String { "\(kind) at \(place), \(shape)" }

    /// In a quick run one kind for each path in turn, and the rows that once failed.
    static let all: [Case] = {
      var cases: [Case] = []
      for (row, place) in Place.allCases.enumerated() {
        for (column, kind) in Kind.allCases.enumerated() {
          let isQuick =
            (column + row) % 9 == 0 || place == .journal && [.pipe, .foreignFile].contains(kind)
            || place == .index && kind == .secondName
          for shape in FieldStore.Shape.allCases
          where LongTests.areOn || isQuick && (shape == .wal || place == .journal) {
            cases.append(Case(place: place, kind: kind, shape: shape))
          }
        }
      }
      return cases
    }()
  }

  /// A folder elsewhere that links lead to, with its content.
  private struct Victim {
    let directory: TemporaryDirectory
    let file: URL
    let folder: URL
    private let before: [String: String]

    init() throws {
      directory = try TemporaryDirectory()
      file = directory.file("victim")
      folder = directory.file("folder")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      try Data("not yours".utf8).write(to: file)
      try Data("nor this".utf8).write(to: folder.appendingPathComponent("inner"))
      before = try Self.picture(directory.url)
    }

    var isUnchanged: Bool { (try? Self.picture(directory.url)) == before }

    private static func picture(_ folder: URL) throws -> [String: String] {
      let paths = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
      return try paths.reduce(into: [:]) { picture, path in
        let url = folder.appendingPathComponent(path)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        let isFile = attributes[.type] as? FileAttributeType == .typeRegular
        picture[path] =
          "\(attributes[.posixPermissions] ?? 0) " + (isFile ? try Data(contentsOf: url).base64EncodedString() : "")
      }
    }
  }

  private static func put(_ kind: Kind, at path: String, victim: Victim) throws {
    let files = FileManager.default
    try files.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    switch kind {
    case .linkToFile: try files.createSymbolicLink(atPath: path, withDestinationPath: victim.file.path)
    case .linkToFolder: try files.createSymbolicLink(atPath: path, withDestinationPath: victim.folder.path)
    case .linkToNothing:
      try files.createSymbolicLink(atPath: path, withDestinationPath: victim.directory.file("new").path)
    case .secondName: try files.linkItem(atPath: victim.file.path, toPath: path)
    case .pipe: try #require(mkfifo(path, 0o600) == 0)
    case .socket: try makeSocket(path)
    case .folder:
      try files.createDirectory(atPath: path, withIntermediateDirectories: false)
      try Data("kept".utf8).write(to: URL(fileURLWithPath: path + "/inner"))
    case .foreignFile: try Data(repeating: 0x5a, count: 5000).write(to: URL(fileURLWithPath: path))
    case .emptyFile: try Data().write(to: URL(fileURLWithPath: path))
    }
  }

  /// A socket's path must be short, so the socket is made above the test's folder and moved.
  private static func makeSocket(_ path: String) throws {
    let short = (path.hasPrefix("/dev/shm/") ? "/dev/shm" : "/tmp") + "/s\(UInt32.random(in: 0...UInt32.max))"
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    let descriptor = socket(AF_UNIX, kind, 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(short.utf8)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    try #require(rename(short, path) == 0)
  }

  @Test(arguments: Case.all)
  func `whatever lies at a path of ours, no row is lost and nothing else is touched`(row: Case) throws {
    let field = try FieldStore(row.shape)
    let (directory, victim) = (try TemporaryDirectory(), try Victim())
    let store = try field.place(in: directory.url)
    let path = directory.file(row.place.rawValue).path
    let aside = path + ".aside"
    let hadFile = FileManager.default.fileExists(atPath: path)
    if hadFile { try FileManager.default.moveItem(atPath: path, toPath: aside) }
    try Self.put(row.kind, at: path, victim: victim)
    let files = POSIXFileOperations()
    let before = try files.status(of: path)
    let bytes = before?.kind == .regular ? try Data(contentsOf: URL(fileURLWithPath: path)) : Data()

    let outcome = try ToolProcess().migrate(store, to: field.models)
    #expect(victim.isUnchanged, outcome.summary)
    let isMigrated = outcome.outcome == "migrated"
    // Bytes that may be changes which SQLite can't read are a loss, to which somebody has to consent.
    let maySay = [.journal, .log].contains(row.place) && [.secondName, .foreignFile].contains(row.kind)
    #expect(outcome.code == (isMigrated ? 0 : maySay ? 3 : 1), outcome.summary)
    #expect(isMigrated || outcome.message.count > 20, outcome.summary)
    if isMigrated {
      #expect(!hadFile || row.place == .log, outcome.summary)
      if !hadFile { #expect(field.isMigrated(store), outcome.summary) }
      // The kept version is the newest except for a stranger's. A journal that says nothing is undone, and the store
      // before that is kept as well.
      let kept = field.previousVersions(of: store).filter { !$0.path.contains("0123abcd") }
      #expect(kept.count == (maySay && row.place == .journal ? 2 : 1), outcome.summary)
      if !hadFile { #expect(kept.allSatisfy(field.isOld), outcome.summary) }
      return
    }
    // The refused thing is still there, and once it is gone the next run completes.
    let isUndone = maySay && row.place == .journal
    if isUndone {
      // SQLite undoes a journal before anything can be counted; the store is kept with it, as it was before.
      let kept = field.previousVersions(of: store).flatMap { version in
        ((try? FileManager.default.contentsOfDirectory(
          at: version.deletingLastPathComponent(), includingPropertiesForKeys: nil)) ?? [])
      }
      #expect(kept.contains { (try? Data(contentsOf: $0)) == bytes }, outcome.summary)
    } else if row.place != .index {
      #expect(try files.status(of: path)?.identity == before?.identity, outcome.summary)
    }
    if try files.status(of: path) != nil { try FileManager.default.removeItem(atPath: path) }
    if hadFile { try FileManager.default.moveItem(atPath: aside, toPath: path) }
    #expect(field.isOld(store), outcome.summary)
    let consent = isUndone ? ["--accept-losses"] : []
    let next = try ToolProcess().run(["migrate", store.path, "--to", field.models.path, "--json"] + consent)
    #expect(next.code == 0 && next.outcome == "migrated", next.summary)
    #expect(field.isMigrated(store), next.summary)
    #expect(victim.isUnchanged, next.summary)
  }
}
