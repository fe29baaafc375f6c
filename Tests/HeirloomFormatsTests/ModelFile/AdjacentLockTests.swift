import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct AdjacentLockTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    // By their names, the second would come first.
    for name in ["Start", "Middle", "New"] {
      try write(
        "M.xcdatamodeld/\(name).xcdatamodel/contents", "<model><entity name=\"\(name)\"/></model>")
    }
  }

  private func write(_ name: String, _ text: String) throws {
    let url = directory.file(name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func lock(_ names: String...) -> String {
    String(
      decoding: VersionLock(versions: names.map { VersionLock.Entry(name: $0, checksum: "c") }).encoded(),
      as: UTF8.self)
  }

  private func list(_ name: String = "M.xcdatamodeld") throws -> ModelVersionList {
    try ModelVersionList(directory.file(name).path)
  }

  @Test func `a bundle without a lock has the order of its names`() throws {
    #expect(try list().versions.map(\.name) == ["Middle", "New", "Start"])
    #expect(try list().lock == nil && list().warnings.isEmpty)
  }

  @Test(arguments: ["lock.json", "M.lock.json"])
  func `a bundle has the order of the lock beside it, and so has one of its versions`(file: String) throws {
    try write(file, lock("Start", "Middle"))
    for path in [
      "M.xcdatamodeld", "M.xcdatamodeld/", "M.xcdatamodeld/Middle.xcdatamodel",
      "M.xcdatamodeld/Middle.xcdatamodel/contents",
    ] {
      let list = try list(path)
      #expect(list.versions.map(\.name) == ["Start", "Middle", "New"])
      #expect(list.versions.map(\.lockedChecksum) == ["c", "c", nil])
      #expect(list.currentVersionName == (path.contains("Middle") ? "Middle" : "New"))
      #expect(list.warnings.isEmpty && list.lock?.versions.count == 2)
    }
  }

  @Test(arguments: [(nil, 1), ("Gone", 1), ("Middle", 0), ("New", 0)] as [(String?, Int)])
  func `what is missing before the floor is no matter`(_ floor: String?, _ missing: Int) throws {
    let names = ["Gone", "Middle", "New"]
    var lock = VersionLock(versions: names.map { VersionLock.Entry(name: $0, checksum: "c") })
    lock.floor = floor
    #expect(lock.missingNames { $0 != "Gone" }.count == missing)
    #expect(lock.versionsBelowFloor.map(\.name) == names.prefix { floor != nil && $0 != floor })
    try write("lock.json", String(decoding: lock.encoded(), as: UTF8.self))
    #expect(try VersionLock(path: directory.file("lock.json").path) == lock)
    #expect(try list().warnings.count == missing)
  }

  @Test(arguments: ["\"Nobody\"", "null", "3", "[]"])
  func `a floor that names no version of the lock is no floor`(_ floor: String) throws {
    let text = lock("Start").replacing("{\n", with: "{\n\"floor\": \(floor),\n", maxReplacements: 1)
    #expect(text.contains("floor"))
    try write("lock.json", text)
    #expect(throws: ModelReadingError.self) { try list() }
  }

  @Test func `a compiled bundle finds it in the app's bundle`() throws {
    for name in ["Start", "New"] { try write("App/M.momd/\(name).mom", "bplist00") }
    try write("App/M.lock.json", lock("Start", "New"))
    #expect(try list("App/M.momd").versions.map(\.name) == ["Start", "New"])
    #expect(try list("App/M.momd/Start.mom").versions.map(\.name) == ["Start", "New"])
  }

  @Test func `a lock for the bundle by its name wins`() throws {
    try write("lock.json", lock("New", "Middle", "Start"))
    try write("M.lock.json", lock("Start", "New", "Middle"))
    #expect(try list().versions.map(\.name) == ["Start", "New", "Middle"])
    // The folder form works too, and takes none of the locks for a snapshot.
    #expect(try ModelVersionList(directory.url.path).versions.map(\.name) == ["Start", "New", "Middle"])
  }

  @Test func `in a folder of several bundles only a lock by name is a bundle's own`() throws {
    try write("Other.xcdatamodeld/Other.xcdatamodel/contents", "<model/>")
    try write("lock.json", lock("Start", "Middle"))
    let passed = try list()
    #expect(passed.versions.map(\.name) == ["Middle", "New", "Start"] && passed.lock == nil)
    #expect(passed.warnings.count == 1 && passed.warnings[0].contains("M.lock.json"))
    try write("M.lock.json", lock("Start", "Middle"))
    #expect(try list().versions.map(\.name) == ["Start", "Middle", "New"])
    #expect(try list().warnings.isEmpty)
  }

  @Test(arguments: [
    "{}", "{\"name\": \"app\", \"lockfileVersion\": 3, \"packages\": {}}",
    "{\"versions\": {\"left-pad\": \"1.0\"}}", "{\"version\": 1, \"versions\": [\"1.0\"]}",
  ])
  func `another tool's lock is passed over with a warning`(text: String) throws {
    try write("lock.json", text)
    let list = try list()
    #expect(list.versions.map(\.name) == ["Middle", "New", "Start"] && list.lock == nil)
    #expect(list.warnings.count == 1 && list.warnings[0].contains("lock.json is skipped"), "\(list.warnings)")
    #expect(try ModelFile.read(directory.file("M.xcdatamodeld").path).model.entities.map(\.name) == ["Start"])
  }

  @Test func `a pipe or a folder of that name does no harm`() throws {
    try FileManager.default.createDirectory(at: directory.file("lock.json"), withIntermediateDirectories: false)
    #expect(try list().warnings.count == 1)
    try FileManager.default.removeItem(at: directory.file("lock.json"))
    try #require(mkfifo(directory.file("lock.json").path, 0o600) == 0)
    #expect(try list().warnings.count == 1)
  }

  @Test(arguments: [
    "{\"format\": 3, \"versions\": []}", "{\"format\": 1, \"versions\": [{}]}",
    "{\n  \"format\": 1,\n  \"versions\": [\n    {\n      \"checksum\": \"c\",\n      \"na",
    "{\"format\": 1, \"versions\": [{\"name\": \"a\", \"checksum\": \"x\"}, {\"name\": \"a\", \"checksum\": \"x\"}]}",
  ])
  func `a damaged lock of ours is an error, since it tells newer stores from older ones`(text: String) throws {
    try write("lock.json", text)
    let error = try #require(throws: ModelReadingError.self) { try list() }
    #expect(error.path?.hasSuffix("/lock.json") == true && error.recoverySuggestion != nil)
  }

  @Test(arguments: ["", "{}", "[]"]) func `a lock that is the bundle's by name must be one`(text: String) throws {
    try write("M.lock.json", text)
    let error = try #require(throws: ModelReadingError.self) { try list() }
    #expect(error.path?.hasSuffix("/M.lock.json") == true)
  }

  @Test func `versions that the bundle lacks are told of, and the others have their order`() throws {
    try write("lock.json", lock("Gone", "Start", "Middle", "Lost"))
    let list = try list()
    #expect(list.versions.map(\.name) == ["Start", "Middle", "New"])
    #expect(list.warnings.count == 1 && list.warnings[0].contains("(\"Gone\", \"Lost\")"))
  }
}
