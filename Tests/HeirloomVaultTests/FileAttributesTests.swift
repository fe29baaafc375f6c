import Foundation
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// The attributes that the system itself keeps of files.
private enum RealAttributes {
  static let areKept: Bool = {
    guard let directory = try? TemporaryDirectory(in: TemporaryDirectory.disk), let quick = try? QuickDirectory()
    else { return false }
    return [directory.file("a").path, quick.file("a").path].allSatisfy { path in
      (try? Data().write(to: URL(fileURLWithPath: path))) != nil && set("user.heirloom", [1], path) && setList(path)
    }
  }()

  @discardableResult
  static func set(_ name: String, _ value: [UInt8], _ path: String) -> Bool {
    ExtendedAttributes.set(name, value, path)
  }

  static func value(_ name: String, _ path: String) -> [UInt8]? { ExtendedAttributes.value(name, path) }

  static func names(_ path: String) -> Set<[CChar]> { ExtendedAttributes.names(path) }

  #if canImport(Darwin)
    /// An access list by which everybody may read, in the form of `acl_from_text(3)`.
    private static func text(_ flags: String) -> String {
      "!#acl 1\ngroup:ABCDEFAB-CDEF-ABCD-EFAB-CDEF0000000C:everyone:12:allow\(flags):read\n"
    }

    @discardableResult
    static func setList(_ path: String, flags: String = "") -> Bool {
      guard let list = acl_from_text(text(flags)) else { return false }
      defer { acl_free(UnsafeMutableRawPointer(list)) }
      return acl_set_file(path, ACL_TYPE_EXTENDED, list) == 0
    }

    static func setListForNewFiles(_ folder: String) -> Bool { setList(folder, flags: ",file_inherit") }

    static func list(_ path: String) -> [UInt8]? {
      guard let list = acl_get_file(path, ACL_TYPE_EXTENDED), let text = acl_to_text(list, nil) else { return nil }
      defer {
        acl_free(text)
        acl_free(UnsafeMutableRawPointer(list))
      }
      return Array(String(cString: text).utf8)
    }
  #else
    /// The format is that of `linux/posix_acl_xattr.h`: a version, then entries of a tag, rights and an identifier.
    static func list(mask: UInt8) -> [UInt8] {
      func entry(_ tag: UInt8, _ rights: UInt8, _ identifier: UInt32 = .max) -> [UInt8] {
        [tag, 0, rights, 0] + (0..<4).map { UInt8(truncatingIfNeeded: identifier >> (8 * $0)) }
      }
      return [2, 0, 0, 0] + entry(1, 6) + entry(2, 4, 54_321) + entry(4, 0) + entry(0x10, mask) + entry(0x20, 0)
    }

    @discardableResult
    static func setList(_ path: String) -> Bool { set("system.posix_acl_access", list(mask: 4), path) }

    static func setListForNewFiles(_ folder: String) -> Bool {
      set("system.posix_acl_default", list(mask: 6), folder)
    }

    static func list(_ path: String) -> [UInt8]? { value("system.posix_acl_access", path) }
  #endif
}

/// The attributes of files, real ones: what a copy and a new store have of them.
@Suite(.enabled(if: RealAttributes.areKept, "no extended attributes or access lists on this volume"))
struct FileAttributesTests {
  let directory: TemporaryDirectory
  let files = POSIXFileOperations()

  init() throws { directory = try TemporaryDirectory(in: TemporaryDirectory.disk) }

  private func makeFile(_ name: String, mode: UInt32 = 0o640) throws -> String {
    let path = directory.file(name).path
    try files.writeNewFile(path, bytes: [1, 2, 3], attributes: FileAttributes(mode: mode))
    return path
  }

  /// The words about attributes that are left out where they are given all at once; `nil` where each has its name.
  private static let leftOut: String? = {
    #if canImport(Darwin)
      "the access list and the extended attributes"
    #else
      nil
    #endif
  }()

  // MARK: Copies

  @Test func `a copy has the access list and every name, whatever its bytes`() throws {
    let path = try makeFile("a")
    // Apple's names are text.
    #if canImport(Darwin)
      let odd = Array("user.é\n".utf8CString)
    #else
      let odd: [CChar] = "user.".utf8CString.dropLast() + [-1, -2, 10, 0]
    #endif
    #expect(ExtendedAttributes.set(odd, [7], path))
    RealAttributes.set("user.empty", [], path)
    RealAttributes.setList(path)
    let list = try #require(RealAttributes.list(path))
    let status = try #require(try files.status(of: path))
    #expect(status.mode == 0o640)
    let left = try files.copyFile(path, to: path + "2", attributes: status.attributes)
    #expect(left == PassedOver())
    #expect(RealAttributes.names(path + "2") == RealAttributes.names(path) && RealAttributes.names(path).count == 2)
    #expect(RealAttributes.list(path + "2") == list)
    #expect(try files.status(of: path + "2")?.mode == 0o640)
    #if !canImport(Darwin)
      #expect(list == RealAttributes.list(mask: 4))
      // What is made beside it, without a list, is for nobody whom the list leaves out.
      #expect(try files.hold(path).status().attributes.mode == 0o600)
      // A copy for the owner alone is for nobody in the list either.
      try files.copyFile(path, to: path + "3", attributes: FileAttributes(mode: 0o600))
      #expect(RealAttributes.list(path + "3") == RealAttributes.list(mask: 0))
    #endif
  }

  @Test func `an access list that the folder gives to new files is not the copy's`() throws {
    let path = try makeFile("a")
    let folder = directory.file("folder").path
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    #expect(RealAttributes.setListForNewFiles(folder))
    try files.makeEmptyFile(folder + "/plain", attributes: FileAttributes(mode: 0o640))
    #expect(RealAttributes.list(folder + "/plain") != nil)
    try files.copyFile(path, to: folder + "/a", attributes: FileAttributes(mode: 0o640))
    #expect(RealAttributes.list(folder + "/a") == nil)
    #expect(try files.status(of: folder + "/a")?.mode == 0o640)
  }

  #if !canImport(Darwin)
    @Test(.enabled(if: geteuid() == 0, "only the superuser sets such names"))
    func `names of the system's are never carried`() throws {
      let path = try makeFile("a")
      #expect(RealAttributes.set("trusted.heirloom", [1], path) && RealAttributes.set("security.heirloom", [1], path))
      RealAttributes.set("user.heirloom", [1], path)
      #expect(try files.copyFile(path, to: path + "2", attributes: FileAttributes(mode: 0o600)) == PassedOver())
      #expect(RealAttributes.names(path + "2").count == 1 && RealAttributes.value("user.heirloom", path + "2") == [1])
    }
  #endif

  #if os(Linux)
    @Test func `the owner's own file that nobody may write is copied with its attributes`() throws {
      let path = try makeFile("a")
      RealAttributes.set("user.heirloom", [1], path)
      #expect(chmod(path, 0o444) == 0 && chmod(directory.url.path, 0o777) == 0)
      // The superuser may do all: a thread without its rights does the copying.
      let isRoot = geteuid() == 0
      if isRoot { #expect(chown(path, 65_534, 65_534) == 0) }
      if isRoot { _ = setFileUser(65_534) }
      defer { if isRoot { _ = setFileUser(0) } }
      let left = try files.copyFile(path, to: path + "2", attributes: FileAttributes(mode: 0o444))
      if isRoot { _ = setFileUser(0) }
      #expect(left == PassedOver())
      #expect(RealAttributes.value("user.heirloom", path + "2") == [1])
      #expect(try files.status(of: path + "2")?.mode == 0o444)
    }
  #endif

  @Test func `what a copy's volume can't hold is named, and the rest is there`() throws {
    let quick = try QuickDirectory()
    let path = quick.file("a").path
    try files.writeNewFile(path, bytes: [1], attributes: FileAttributes(mode: 0o600))
    RealAttributes.set("user.small", [5], path)
    try #require(RealAttributes.set("user.large", [UInt8](repeating: 1, count: 30_000), path))
    let copy = directory.file("b").path
    let left = try files.copyFile(path, to: copy, attributes: FileAttributes(mode: 0o600))
    let fits = RealAttributes.value("user.large", copy) != nil
    #expect(left.count == (fits ? 0 : 1) && left.first == (fits ? nil : Self.leftOut ?? "user.large"))
    #expect(RealAttributes.value("user.small", copy) == [5])
    #expect(try files.readFile(copy, limit: 9) == [1])
  }

  // MARK: Stores

  enum Filling: CaseIterable, Sendable { case rebuilt, cloned }

  private func fill(_ fixture: VaultFixture, _ vault: StoreVault, _ filling: Filling) throws -> PreviousVersionFiles? {
    guard filling == .cloned else { return try fixture.migrate(vault) }
    return try vault.replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        try hold.duplicateStore(to: candidate)
        // Nobody else reads a candidate that isn't proven.
        #expect(try files.status(of: candidate)?.mode == 0o600)
        try Connection.execute("PRAGMA user_version=2", on: candidate)
      }, prove: { _, _ in })
  }

  @Test(arguments: Filling.allCases, [(VaultFixture.Shape.rollback, false), (.wal, false), (.wal, true)])
  func `a store keeps what its file had, and so does the version before`(
    _ filling: Filling, _ setting: (shape: VaultFixture.Shape, refusesLinks: Bool)
  ) throws {
    let fixture = try VaultFixture(setting.shape)
    let path = fixture.location.path
    RealAttributes.set("user.heirloom", [4, 2], path)
    RealAttributes.setList(path)
    let list = try #require(RealAttributes.list(path))
    var events: [VaultEvent] = []
    let vault = fixture.vault(FaultyFiles(refusesLinks: setting.refusesLinks)) { events.append($0) }
    let previous = try #require(try fill(fixture, vault, filling))
    #expect(try fixture.content().version == 2)
    for path in [path, try #require(previous.storePath)] {
      #expect(RealAttributes.value("user.heirloom", path) == [4, 2])
      #expect(RealAttributes.list(path) == list)
      #expect(RealAttributes.names(path).count == 1)
      #expect(try files.status(of: path)?.mode == 0o640)
    }
    #expect(!events.contains { if case .attributesLeftOut = $0 { true } else { false } })
    // The store that a version replaces has its say, not the version.
    RealAttributes.set("user.of.the.version", [1], try #require(previous.storePath))
    RealAttributes.set("user.heirloom", [9], path)
    _ = try vault.restore(previous.name.text)
    #expect(try fixture.content().version == 1)
    #expect(
      RealAttributes.value("user.heirloom", path) == [9] && RealAttributes.value("user.of.the.version", path) == nil)
    #expect(RealAttributes.list(path) == list)
    #expect(try files.status(of: path)?.mode == 0o640)
    // Where no store is, there is only the version.
    try files.unlink(path)
    _ = try vault.restore(previous.name.text)
    #expect(RealAttributes.value("user.heirloom", path) == [4, 2])
    #expect(RealAttributes.list(path) == list)
  }

  @Test(arguments: Filling.allCases)
  func `attributes beyond the limit are left out with a word, and the migration goes on`(_ filling: Filling) throws {
    let fixture = try VaultFixture(.rollback)
    let path = fixture.location.path
    let large = [UInt8](repeating: 3, count: 60_000)
    let count = (0..<20).prefix { RealAttributes.set("user.\($0)", large, path) }.count
    try #require(count == 20, "files in memory hold no MiB of attributes here")
    var told: [VaultEvent] = []
    _ = try fill(fixture, fixture.vault { told.append($0) }, filling)
    #expect(try fixture.content().version == 2)
    let left = told.compactMap { event -> Int? in
      guard case .attributesLeftOut(path, let count, let first) = event else { return nil }
      #expect(first == Self.leftOut || Self.leftOut == nil && first.hasPrefix("user."))
      return count
    }
    #expect(left == [Self.leftOut == nil ? 3 : 1])
    // Apple's systems take all or none, and a clone keeps what it has.
    if Self.leftOut == nil { #expect(RealAttributes.names(path).count == 17) }
  }

  @Test func `a file system that fails at attributes leaves the store as it was`() throws {
    let fixture = try VaultFixture(.rollback)
    RealAttributes.set("user.heirloom", [1], fixture.location.path)
    let bytes = try fixture.bytes()
    let files = FaultyFiles(.matching { $0 == .giveAttributes && $1.hasSuffix("Journal.sqlite") })
    #expect(throws: VaultError.self) { _ = try fill(fixture, fixture.vault(files), .cloned) }
    #expect(files.hits == 1)
    #expect(try fixture.bytes() == bytes)
    #expect(RealAttributes.value("user.heirloom", fixture.location.path) == [1])
    #expect(try fixture.leftovers() == [])
  }

  @Test func `a set-aside store that returns where none is keeps what its file had`() throws {
    let fixture = try VaultFixture(.rollback)
    RealAttributes.set("user.heirloom", [8], fixture.location.path)
    _ = try fixture.vault().setStoreAside(notice: [1])
    let set = try #require(try fixture.vault().setAsideStores().first)
    #expect(RealAttributes.value("user.heirloom", set.storePath(named: "Journal.sqlite")) == [8])
    _ = try fixture.vault().adopt(set.name)
    #expect(RealAttributes.value("user.heirloom", fixture.location.path) == [8])
    #expect(try files.status(of: fixture.location.path)?.mode == 0o640)
  }

  @Test func `external files that are copied keep theirs`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 2)
    let file = fixture.location.support + "/_EXTERNAL_DATA/FILE-1"
    RealAttributes.set("user.heirloom", [6], file)
    let vault = fixture.vault(FaultyFiles(refusesLinks: true))
    let previous = try #require(try fixture.migrate(vault))
    #expect(RealAttributes.value("user.heirloom", previous.path + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-1") == [6])
    try files.unlink(file)
    _ = try vault.restore(previous.name.text)
    #expect(RealAttributes.value("user.heirloom", file) == [6])
  }

  #if canImport(Darwin)
    // MARK: Protection classes

    private func protectionClass(_ path: String) -> Int32 {
      let file = open(path, O_RDONLY)
      defer { close(file) }
      return fcntl(file, F_GETPROTECTIONCLASS)
    }

    @Test(arguments: Filling.allCases)
    func `a new store, the version before and their folders have the store's protection class`(
      _ filling: Filling
    ) throws {
      let fixture = try VaultFixture(.rollback)
      let path = fixture.location.path
      let file = open(path, O_RDONLY)
      defer { close(file) }
      // Class 4 is none: no system gives it to a file by itself. Volumes without classes have nothing to keep.
      guard fcntl(file, F_SETPROTECTIONCLASS, 4) == 0 else { return }
      let vault = fixture.vault()
      let previous = try #require(try fill(fixture, vault, filling))
      let kept = try #require(previous.storePath)
      #expect(protectionClass(path) == 4 && protectionClass(kept) == 4)
      #expect(protectionClass(fixture.location.companion) == 4)
      // A version that returns has the class of the store that it replaces.
      let new = open(path, O_RDONLY)
      defer { close(new) }
      #expect(fcntl(new, F_SETPROTECTIONCLASS, 2) == 0)
      _ = try vault.restore(previous.name.text)
      #expect(protectionClass(path) == 2)
    }
  #endif

  // MARK: Backups

  @Test func `backups leave previous versions out if the app wants it, and only then`() throws {
    let (mark, value) = ExtendedAttributes.backupMark
    let fixture = try VaultFixture(.rollback)
    func run(_ isExcluded: Bool?, _ files: any FileOperations = POSIXFileOperations()) throws -> [VaultEvent] {
      var events: [VaultEvent] = []
      var configuration = VaultConfiguration()
      configuration.excludesPreviousVersionsFromBackup = isExcluded
      let vault = StoreVault(fixture.location, files: files, configuration: configuration) { events.append($0) }
      _ = try #require(try fill(fixture, vault, .cloned))
      return events.filter { if case .attributesLeftOut = $0 { true } else { false } }
    }
    let previous = fixture.location.previous
    #expect(try run(nil) == [] && RealAttributes.names(previous).isEmpty)
    #expect(try run(true) == [] && RealAttributes.value(mark, previous) == value)
    #expect(try run(nil) == [] && RealAttributes.value(mark, previous) == value)
    #expect(try run(true) == [] && RealAttributes.value(mark, previous) == value)
    #expect(try run(false) == [] && RealAttributes.value(mark, previous) == nil)
    #expect(try run(false) == [])
    #expect(
      RealAttributes.value(mark, fixture.location.path) == nil
        && RealAttributes.value(mark, fixture.location.companion) == nil)
    let files = FaultyFiles(.matching { $0 == .giveAttributes && $1 == previous }, code: ENOTSUP)
    let told = try run(true, files)
    guard case .attributesLeftOut(previous, 1, let first) = told.first else { throw try #require(nil as VaultError?) }
    #expect(told.count == 1 && first.contains("exclusion from backups"))
  }
}

#if os(Linux)
  /// Sets the user by whose rights this thread alone opens files.
  @_silgen_name("setfsuid") private func setFileUser(_ user: UInt32) -> Int32
#endif
