import Darwin
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// The branches for Apple's systems where a call answers what it can't be asked for, with the fake's faults.
struct DarwinBranchTests {
  let directory: TemporaryDirectory
  let files = POSIXFileOperations()
  let attributes = FileAttributes(mode: 0o640)

  /// The kind of all volumes.
  private static let volume = ProcessInfo.processInfo.environment["FAKE_DARWIN_VOLUME"] ?? "apfs"
  private static let all = "the access list and the extended attributes"

  init() throws { directory = try TemporaryDirectory(in: TemporaryDirectory.disk) }

  private func path(_ name: String) -> String { directory.file(name).path }

  private func makeFile(_ name: String, size: Int = 3) throws -> String {
    try files.writeNewFile(path(name), bytes: Array(repeating: 7, count: size), attributes: attributes)
    return path(name)
  }

  private func fail(_ call: String, of path: String, with code: Int32, times: Int? = nil) throws {
    try #require(FakeDarwin.fail(call, of: path, with: code, times: times), "no extended attributes on this volume")
  }

  private func protectionClass(_ path: String) -> Int32 {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return fcntl(file, F_GETPROTECTIONCLASS)
  }

  private func setProtectionClass(_ wanted: Int32, _ path: String) {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    #expect(fcntl(file, F_SETPROTECTIONCLASS, wanted) == 0)
  }

  // MARK: Syncs

  @Test(arguments: [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY])
  func `where a volume has no full sync, a plain one is enough`(_ code: Int32) throws {
    let file = try makeFile("a")
    try fail("F_FULLFSYNC", of: file, with: code)
    try files.synchronizeFile(file)
    try fail("F_FULLFSYNC", of: directory.url.path, with: code)
    try files.synchronizeDirectory(directory.url.path)
    #expect(FakeDarwin.calls("F_FULLFSYNC", of: file) == 1)
    #expect(FakeDarwin.calls("F_FULLFSYNC", of: directory.url.path) == 1)
  }

  @Test func `a full sync that a signal interrupts is asked for again`() throws {
    let file = try makeFile("a")
    try fail("F_FULLFSYNC", of: file, with: EINTR, times: 2)
    try files.hold(file).synchronize()
    #expect(FakeDarwin.calls("F_FULLFSYNC", of: file) == 3)
  }

  @Test(arguments: [EIO, ENOSPC, ENODATA])
  func `a full sync that fails is told, and not tried again`(_ code: Int32) throws {
    let file = try makeFile("a")
    try fail("F_FULLFSYNC", of: file, with: code, times: 1)
    #expect(throws: FileError(.synchronizeFile, file, code: code)) { try files.synchronizeFile(file) }
    #expect(FakeDarwin.calls("F_FULLFSYNC", of: file) == 1)
  }

  // MARK: Clones

  @Test(arguments: [ENOTSUP, EXDEV, EPERM, EINVAL, ENOSYS])
  func `what can't be cloned is copied, with all that it has`(_ code: Int32) throws {
    let file = try makeFile("a")
    ExtendedAttributes.set("com.example.note", [1, 2], file)
    try fail("fclonefileat", of: file, with: code)
    #expect(try !files.hold(file).clone(to: path("b"), attributes: attributes))
    #expect(try files.status(of: path("b")) == nil)
    #expect(try files.copyFile(file, to: path("b"), attributes: attributes) == PassedOver())
    #expect(try files.readFile(path("b"), limit: 9) == [7, 7, 7])
    #expect(ExtendedAttributes.value("com.example.note", path("b")) == [1, 2])
  }

  @Test(arguments: [ENOSPC, EDQUOT, EIO])
  func `a clone that fails for lack of room or by the disk is told, and leaves no file`(_ code: Int32) throws {
    let file = try makeFile("a")
    try fail("fclonefileat", of: file, with: code)
    let expected = FileError(.copy, file, to: path("b"), code: code)
    #expect(throws: expected) { try files.hold(file).clone(to: path("b"), attributes: attributes) }
    #expect(throws: expected) { try files.copyFile(file, to: path("b"), attributes: attributes) }
    #expect(try files.status(of: path("b")) == nil)
  }

  @Test func `a clone has what its original has, and the rights that are asked for`() throws {
    let file = try makeFile("a", size: 300_000)
    ExtendedAttributes.set("com.example.note", [1, 2], file)
    #expect(utimes(file, [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1_100_000_000, tv_usec: 0)]) == 0)
    let held = try files.hold(file)
    try #require(try held.clone(to: path("b"), attributes: FileAttributes(mode: 0o604)) == (Self.volume == "apfs"))
    guard Self.volume == "apfs" else { return }
    let status = try #require(try files.status(of: path("b")))
    #expect(status.mode == 0o604 && status.size == 300_000 && status.modificationTime == 1_100_000_000)
    #expect(ExtendedAttributes.value("com.example.note", path("b")) == [1, 2])
    #expect(held.sharedRanges(withCloneAt: path("b")) == [65_536..<300_000])
    #expect(held.sharedRanges(withCloneAt: path("none")) == [])
  }

  @Test(.enabled(if: volume == "apfs", "no clones on this volume"))
  func `a copy that is a clone is brought to the disk, or no file is left`() throws {
    let file = try makeFile("a")
    // A clone has the faults of its original.
    try fail("F_FULLFSYNC", of: file, with: EIO)
    #expect(throws: FileError(.copy, path("b"), code: EIO)) {
      try files.copyFile(file, to: path("b"), attributes: attributes)
    }
    #expect(try files.status(of: path("b")) == nil)
  }

  @Test(.enabled(if: volume == "apfs", "no clones on this volume"))
  func `a clone that can't be opened leaves no file`() throws {
    let file = try makeFile("a")
    let held = try files.hold(file)
    try fail("open", of: file, with: EPERM)
    #expect(throws: FileError(.copy, path("b"), code: EPERM)) { try held.clone(to: path("b"), attributes: attributes) }
    #expect(try files.status(of: path("b")) == nil)
  }

  // MARK: Attributes

  @Test func `attributes are given as they are, and what the other file had is gone`() throws {
    let (file, other) = (try makeFile("a"), try makeFile("b"))
    ExtendedAttributes.set("com.example.note", [1, 2], file)
    ExtendedAttributes.set("com.example.other", [3], other)
    #expect(try files.hold(file).giveAttributes(to: other) == PassedOver())
    #expect(ExtendedAttributes.value("com.example.note", other) == [1, 2])
    #expect(ExtendedAttributes.value("com.example.other", other) == nil)
  }

  @Test(arguments: [
    ("flistxattr", ENOTSUP, false, false), ("flistxattr", EPERM, false, true), ("fcopyfile", ENOTSUP, false, false),
    ("fcopyfile", ENOTSUP, true, true), ("fcopyfile", EPERM, false, true),
  ])
  func `attributes that can't be given are told, unless there are none`(
    _ call: String, _ code: Int32, _ hasAttribute: Bool, _ isTold: Bool
  ) throws {
    let (file, other) = (try makeFile("a"), try makeFile("b"))
    if hasAttribute { ExtendedAttributes.set("com.example.note", [1, 2], file) }
    try fail(call, of: file, with: code)
    let left = try files.hold(file).giveAttributes(to: other)
    #expect(left.count == (isTold ? 1 : 0) && left.first == (isTold ? Self.all : nil))
    #expect(try files.status(of: other)?.mode == 0o640)
  }

  @Test func `the mark for backups is written once, and taking away what isn't there is no failure`() throws {
    let folder = path("folder")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    try files.setExcludedFromBackup(false, folder)
    try fail("fsetxattr", of: folder, with: 0, times: 0)
    try files.setExcludedFromBackup(true, folder)
    try files.setExcludedFromBackup(true, folder)
    #expect(FakeDarwin.calls("fsetxattr", of: folder) == 1)
    let mark = ExtendedAttributes.backupMark
    #expect(ExtendedAttributes.value(mark.name, folder) == mark.value)
    try files.setExcludedFromBackup(false, folder)
    #expect(ExtendedAttributes.names(folder).isEmpty)
  }

  @Test func `a mark for backups that can't be set or taken away is told`() throws {
    let folder = path("folder")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    try fail("fsetxattr", of: folder, with: EPERM)
    #expect(throws: FileError(.giveAttributes, folder, code: EPERM)) { try files.setExcludedFromBackup(true, folder) }
    // On Apple's systems this number says something else than that there is none.
    try fail("fremovexattr", of: folder, with: ENODATA)
    #expect(throws: FileError(.giveAttributes, folder, code: ENODATA)) {
      try files.setExcludedFromBackup(false, folder)
    }
    try fail("fremovexattr", of: folder, with: ENOTSUP)
    try files.setExcludedFromBackup(false, folder)
  }

  // MARK: Protection classes

  @Test(.enabled(if: volume == "apfs", "no protection classes on this volume"), arguments: [true, false])
  func `a copy, a clone and new files in a folder have the protection class`(_ isCloned: Bool) throws {
    let (file, folder) = (try makeFile("a"), path("folder"))
    setProtectionClass(2, file)
    if !isCloned { try fail("fclonefileat", of: file, with: ENOTSUP) }
    #expect(try files.copyFile(file, to: path("b"), attributes: attributes) == PassedOver())
    #expect(protectionClass(path("b")) == 2)
    let held = try files.hold(file)
    try held.copyWithoutSync(to: path("c"), attributes: attributes) { _ in true }
    #expect(protectionClass(path("c")) == 2)
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    #expect(protectionClass(folder) == 3)
    #expect(try held.giveProtection(to: folder) == PassedOver())
    #expect(try held.giveProtection(to: folder) == PassedOver())
    try files.writeNewFile(folder + "/d", bytes: [1], attributes: attributes)
    #expect(protectionClass(folder) == 2 && protectionClass(folder + "/d") == 2)
  }

  @Test(arguments: [(EPERM, true), (EBADF, true), (ENOTSUP, false)])
  func `a class that can't be set is told where there are classes`(_ code: Int32, _ isTold: Bool) throws {
    let (file, other) = (try makeFile("a"), try makeFile("b"))
    let isTold = isTold && Self.volume == "apfs"
    if Self.volume == "apfs" { setProtectionClass(2, file) }
    try fail("F_SETPROTECTIONCLASS", of: other, with: code)
    let held = try files.hold(file)
    for left in [try held.giveProtection(to: other), try held.giveAttributes(to: other)] {
      #expect(left.count == (isTold ? 1 : 0) && left.first == (isTold ? "the protection class" : nil))
    }
  }

  // MARK: Volumes and threads

  @Test func `the system tells the name of a file system`() throws {
    let volume = try files.volume(of: directory.url.path)
    #expect(volume.fileSystemName == Self.volume && volume.kind == .local && volume.availableBytes > 0)
  }

  @Test(arguments: [nil, 0x15, 0x19] as [UInt32?])
  func `a thread of any quality does its work`(_ quality: UInt32?) async {
    await withCheckedContinuation { continuation in
      let isStarted = WorkerThread.start(quality: quality) { continuation.resume() }
      #expect(isStarted)
      if !isStarted { continuation.resume() }
    }
  }
}
