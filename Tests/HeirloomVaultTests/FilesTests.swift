import Foundation
import HeirloomFormats
import HeirloomMigration
import TestSupport
import Testing
import HeirloomVault

struct FilesTests {
  let directory: TemporaryDirectory
  let files = POSIXFileOperations()
  let attributes = FileAttributes(mode: 0o640)

  init() throws {
    directory = try TemporaryDirectory(in: TemporaryDirectory.disk)
  }

  func path(_ name: String) -> String { directory.file(name).path }

  @Test func `writes a new file with exactly the permissions and bytes asked for`() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try files.writeNewFile(path("a"), bytes: bytes, attributes: FileAttributes(mode: 0o666))
    let status = try #require(try files.status(of: path("a")))
    #expect(status.kind == .regular)
    #expect(status.size == 200_000)
    #expect(status.mode == 0o666)
    #expect(status.linkCount == 1)
    #expect(try files.readFile(path("a"), limit: 200_000) == bytes)
  }

  @Test func `never writes over what has the name`() throws {
    try files.writeNewFile(path("a"), bytes: [1], attributes: attributes)
    try FileManager.default.createSymbolicLink(atPath: path("s"), withDestinationPath: path("nowhere"))
    for name in ["a", "s"] {
      let error = #expect(throws: FileError.self) {
        try files.writeNewFile(path(name), bytes: [2], attributes: attributes)
      }
      #expect(error?.code == EEXIST)
    }
    #expect(throws: FileError.self) { try files.makeEmptyFile(path("a"), attributes: attributes) }
    #expect(throws: FileError.self) { try files.copyFile(path("a"), to: path("s"), attributes: attributes) }
    #expect(throws: FileError.self) { try files.link(path("a"), to: path("s")) }
    #expect(try files.readFile(path("a"), limit: 9) == [1])
    #expect(try files.status(of: path("nowhere")) == nil)
  }

  @Test func `does not follow a symbolic link to read, hold, lock or sync`() throws {
    try files.writeNewFile(path("a"), bytes: [1], attributes: attributes)
    try FileManager.default.createSymbolicLink(atPath: path("s"), withDestinationPath: path("a"))
    #expect(try files.status(of: path("s"))?.kind == .symbolicLink)
    #expect(throws: FileError.self) { try files.readFile(path("s"), limit: 9) }
    #expect(throws: FileError.self) { try files.hold(path("s")) }
    #expect(throws: FileError.self) { try files.lock(path("s"), timeout: .zero) }
    #expect(throws: FileError.self) { try files.synchronizeFile(path("s")) }
    #expect(throws: FileError.self) { try files.copyFile(path("s"), to: path("b"), attributes: attributes) }
    #expect(try files.resolvePath(path("s")) == files.resolvePath(path("a")))
  }

  @Test func `a file is brought to the disk while it is read, and what fails is told`() throws {
    try files.writeNewFile(path("a"), bytes: [1, 2, 3], attributes: attributes)
    var read: [UInt8] = []
    try files.synchronizeFile(path("a")) { read = try files.readFile(path("a"), limit: 9) }
    #expect(read == [1, 2, 3])
    #expect(throws: CancellationError.self) { try files.synchronizeFile(path("a")) { throw CancellationError() } }
    #expect(throws: CancellationError.self) { try files.synchronizeFile(path("no")) { throw CancellationError() } }
    let error = #expect(throws: FileError.self) { try files.synchronizeFile(path("no")) {} }
    #expect(error?.code == ENOENT)
  }

  @Test func `a name is given where there is none, and nothing is replaced`() throws {
    try files.writeNewFile(path("a"), bytes: [1], attributes: attributes)
    try files.linkOrMove(path("a"), to: path("b"))
    try files.writeNewFile(path("c"), bytes: [2], attributes: attributes)
    let error = #expect(throws: FileError.self) { try files.linkOrMove(path("c"), to: path("b")) }
    #expect(error?.code == EEXIST)
    #expect(try files.readFile(path("b"), limit: 9) == [1])
    #expect(try files.readFile(path("c"), limit: 9) == [2])
    let refusing = FaultyFiles(refusesLinks: true)
    #expect(throws: FileError(.link, path("c"), to: path("b"), code: EEXIST)) {
      try refusing.linkOrMove(path("c"), to: path("b"))
    }
    try refusing.linkOrMove(path("c"), to: path("d"))
    #expect(try files.readFile(path("d"), limit: 9) == [2])
  }

  @Test(arguments: [3, 40, LongTests.areOn ? 900 : 450])
  func `a link on the way is followed nowhere, however long the way is`(depth: Int) throws {
    let files = POSIXFileOperations(followsLinks: false)
    // The system's calls take 4,096 bytes; deeper folders are still made and removed.
    let names = (0..<depth).map { "folder\($0)" }
    var folder = path("top")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
    var folders = [folder]
    for name in names {
      folder += "/" + name
      try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
      folders.append(folder)
    }
    try files.writeNewFile(folder + "/file", bytes: [1], attributes: attributes)
    #expect(try files.status(of: folder + "/file")?.size == 1)
    try files.rename(path("top"), to: path("real"))
    try FileManager.default.createSymbolicLink(atPath: path("top"), withDestinationPath: path("real"))
    #expect(try files.status(of: folder + "/file") == nil)
    #expect(throws: FileError.self) { try files.unlink(folder + "/file") }
    try files.unlink(path("top"))
    try files.rename(path("real"), to: path("top"))
    try files.unlink(folder + "/file")
    for folder in folders.reversed() { try files.removeDirectory(folder) }
    #expect(try files.status(of: path("top")) == nil)
  }

  @Test func `does not hang at a named pipe`() throws {
    #expect(mkfifo(path("p"), 0o600) == 0)
    #expect(try files.status(of: path("p"))?.kind == .pipe)
    #expect(throws: FileError.self) { try files.readFile(path("p"), limit: 9) }
    #expect(throws: FileError.self) { try files.hold(path("p")) }
    #expect(throws: FileError.self) { try files.lock(path("p"), timeout: .zero) }
  }

  @Test(arguments: ["", "a\0b"])
  func `refuses a path that C would read as another`(_ path: String) {
    #expect(throws: FileError.self) { try files.status(of: path) }
    #expect(throws: FileError.self) { try files.unlink(path) }
    #expect(throws: FileError.self) { try files.rename(path, to: "x") }
    #expect(throws: FileError.self) { try files.writeNewFile(path, bytes: [], attributes: attributes) }
  }

  @Test func `lists, links, renames and removes`() throws {
    try files.makeDirectory(path("folder"), attributes: FileAttributes(mode: 0o777))
    #expect(try files.status(of: path("folder"))?.mode == 0o777)
    #expect(throws: FileError.self) { try files.makeDirectory(path("folder"), attributes: attributes) }
    try files.writeNewFile(path("folder/b"), bytes: [1, 2], attributes: attributes)
    try files.link(path("folder/b"), to: path("folder/a"))
    #expect(try files.names(in: path("folder")) == ["a", "b"])
    #expect(try files.status(of: path("folder/a"))?.identity == files.status(of: path("folder/b"))?.identity)
    #expect(try files.status(of: path("folder/a"))?.linkCount == 2)
    try files.writeNewFile(path("c"), bytes: [3], attributes: attributes)
    try files.rename(path("c"), to: path("folder/a"))
    #expect(try files.readFile(path("folder/a"), limit: 9) == [3])
    #expect(throws: FileError.self) { try files.removeDirectory(path("folder")) }
    try files.synchronizeFile(path("folder/a"))
    try files.synchronizeDirectory(path("folder"))
    try files.unlink(path("folder/a"))
    try files.unlink(path("folder/b"))
    try files.removeDirectory(path("folder"))
    #expect(try files.status(of: path("folder")) == nil)
    #expect(throws: FileError.self) { try files.names(in: path("folder")) }
  }

  @Test(arguments: [0, 1, 4_096, 3_000_001])
  func `copies a file of any size`(_ size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    try files.writeNewFile(path("a"), bytes: bytes, attributes: attributes)
    try files.copyFile(path("a"), to: path("b"), attributes: FileAttributes(mode: 0o600))
    #expect(try files.readFile(path("b"), limit: size) == bytes)
    #expect(try files.status(of: path("b"))?.mode == 0o600)
    #expect(try files.status(of: path("b"))?.identity != files.status(of: path("a"))?.identity)
    let held = try files.hold(path("a"))
    if try held.clone(to: path("c"), attributes: attributes) {
      #expect(try files.readFile(path("c"), limit: size) == bytes)
    } else {
      #expect(try files.status(of: path("c")) == nil)
    }
    _ = try held.copy(to: path("d"), attributes: attributes)
    #expect(try files.readFile(path("d"), limit: size) == bytes)
    held.close()
    #expect(throws: FileError.self) { try held.synchronize() }
  }

  @Test func `a copy keeps rights, times and extended attributes, and never what a program gets by its file`() throws {
    try files.writeNewFile(path("a"), bytes: [1, 2, 3], attributes: FileAttributes(mode: 0o600))
    let note = Array("a note".utf8)
    #expect(chmod(path("a"), 0o6755) == 0)
    try #require(ExtendedAttributes.set("user.heirloom.note", note, path("a")), "no attributes on this volume")
    let times = [timeval(tv_sec: 1_000_000_000, tv_usec: 5), timeval(tv_sec: 1_100_000_000, tv_usec: 7)]
    #expect(utimes(path("a"), times) == 0)
    let original = try #require(try files.status(of: path("a")))
    try files.copyFile(path("a"), to: path("b"), attributes: original.attributes)
    let copy = try #require(try files.status(of: path("b")))
    #expect(copy.mode == 0o755)
    #expect(copy.modificationTime == 1_100_000_000)
    #expect(copy.owner == original.owner && copy.group == original.group)
    #expect(ExtendedAttributes.value("user.heirloom.note", path("b")) == note)
    // A file that is changed further, as a candidate is, gets neither.
    try files.hold(path("a")).copyWithoutSync(to: path("c"), attributes: original.attributes) { _ in true }
    #expect(ExtendedAttributes.value("user.heirloom.note", path("c")) == nil)
    #expect(try files.status(of: path("c"))?.modificationTime != 1_100_000_000)
  }

  @Test func `a copy tells how far it is, and stops when it is told to`() throws {
    let size = (20 << 20) + 7
    try files.writeNewFile(path("a"), bytes: Array(repeating: 5, count: size), attributes: attributes)
    let held = try files.hold(path("a"))
    defer { held.close() }
    // A clone is done at once, without progress.
    guard try !held.clone(to: path("shared"), attributes: attributes) else { return }
    var told: [Int64] = []
    try held.copyWithoutSync(to: path("b"), attributes: attributes) { bytes in
      told.append(bytes)
      return true
    }
    #expect(told.reduce(0, +) == Int64(size) && told.count >= 3)
    #expect(try files.status(of: path("b"))?.size == Int64(size))
    let error = #expect(throws: FileError.self) {
      try held.copyWithoutSync(to: path("c"), attributes: attributes) { _ in false }
    }
    #expect(error?.code == ECANCELED)
    #expect(try files.status(of: path("c")) == nil)
  }

  @Test func `reads no more than the limit`() throws {
    try files.writeNewFile(path("a"), bytes: [1, 2, 3], attributes: attributes)
    #expect(try files.readFile(path("a"), limit: 3) == [1, 2, 3])
    let error = #expect(throws: FileError.self) { try files.readFile(path("a"), limit: 2) }
    #expect(error?.code == EFBIG)
  }

  @Test func `a lock shuts others out until it is closed`() throws {
    let first = try #require(try files.lock(path("lock"), timeout: .zero))
    let start = ContinuousClock.now
    #expect(try files.lock(path("lock"), timeout: .milliseconds(50)) == nil)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    first.close()
    first.close()
    var second = try files.lock(path("lock"), timeout: .zero)
    #expect(second != nil)
    // Without a call, the end of the last reference releases it.
    second = nil
    #expect(try files.lock(path("lock"), timeout: .zero) != nil)
  }

  @Test func `a lock on a file that lost its name is no lock`() throws {
    let first = try #require(try files.lock(path("lock"), timeout: .zero))
    try files.unlink(path("lock"))
    let second = try #require(try files.lock(path("lock"), timeout: .zero))
    #expect(try files.lock(path("lock"), timeout: .zero) == nil)
    first.close()
    second.close()
  }

  @Test func `knows the volume and its room`() throws {
    let volume = try files.volume(of: directory.url.path)
    #expect(volume.availableBytes > 0)
    #if os(Linux)
      #expect(!volume.fileSystemName.isEmpty)
    #endif
    #expect(volume.kind == VolumeInformation.kind(ofFileSystem: volume.fileSystemName))
    #expect(throws: FileError.self) { try files.volume(of: path("nowhere")) }
  }

  @Test(arguments: [
    ("/", "ext4"), ("/home/a", "ext4"), ("/mnt/my disk", "vfat"), ("/mnt/my disk/x", "vfat"), ("/mnt/my", "ext4"),
    ("/net/x/y", "nfs4"), ("/net", "ext4"), ("/over/z", "tmpfs"),
  ])
  func `finds the deepest mount point above a path`(_ path: String, _ name: String) {
    let table = """
      22 27 0:21 / / rw,relatime shared:1 - ext4 /dev/a rw
      23 22 0:22 / /mnt/my\\040disk rw shared:3 master:2 - vfat /dev/b rw
      24 22 0:23 / /net/x rw - nfs4 host:/x rw
      25 22 0:24 / /over rw - xfs /dev/c rw
      26 22 0:25 / /over rw - tmpfs none rw
      a broken line - x
      """
    #expect(VolumeInformation.mount(of: path, inMountTable: table)?.fileSystemName == name)
  }

  @Test(arguments: [
    ("ext4", true), ("xfs", true), ("btrfs", true), ("apfs", true), ("tmpfs", true), ("overlay", true),
    ("something new", true), ("nfs4", false), ("cifs", false), ("fuse.sshfs", false), ("vfat", false), ("exfat", false),
    ("virtiofs", false), ("9p", false),
  ])
  func `promises nothing on volumes that keep no promises`(_ name: String, _ isSafe: Bool) {
    #expect(VolumeInformation.kind(ofFileSystem: name).isSafe == isSafe)
  }

  @Test func `identifiers are 32 digits and never the same`() {
    let identifiers = Set((0..<1_000).map { _ in files.uniqueIdentifier() })
    #expect(identifiers.count == 1_000)
    #expect(identifiers.allSatisfy { $0.count == 32 && $0.allSatisfy { $0.isHexDigit && !$0.isUppercase } })
  }

  @Test func `an error says what was done to which file and why`() throws {
    let error = #expect(throws: FileError.self) { try files.rename(path("a"), to: path("b")) }
    #expect(error?.operation == .rename)
    #expect(error?.code == ENOENT)
    let text = try #require(error?.description)
    #expect(text.hasPrefix("could not rename \"\(path("a"))\" to \"\(path("b"))\": "))
    #expect(text.contains("No such file"), "\(text)")
  }
}
