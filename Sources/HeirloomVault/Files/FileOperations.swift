/// The only interface between Heirloom and the file system.
///
/// The vault changes files only through these calls, so a test can record them, fail any one of them, and rebuild each
/// state that a loss of power may leave. (SQLite writes in the held store and in the candidate through its own layer.)
/// Calls take paths; only the two handles below keep a file open.
/// A name that is not UTF-8 is mapped to a string that preserves its bytes.
///
/// For a crash model: ``writeNewFile(_:bytes:attributes:)``, ``copyFile(_:to:attributes:)``
/// and ``HeldFile/copy(to:attributes:)`` make a new name in the folder, then write content,
/// then sync the content (not the name). Names are durable only after ``synchronizeDirectory(_:)`` of their folder.
package protocol FileOperations: Sendable {
  /// For paths that were resolved before: a user with write permission for one of the folders could
  /// have put a link there since.
  var withoutLinks: any FileOperations { get }

  /// A symbolic link is not followed.
  func status(of path: String) throws(FileError) -> FileStatus?

  /// Sorted, without `.` and `..`.
  func names(in folder: String) throws(FileError) -> [String]

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError)

  func removeDirectory(_ path: String) throws(FileError)

  /// Syncs nothing.
  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError)

  /// Syncs the content, but not the name.
  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError)

  func synchronizeFile(_ path: String) throws(FileError)

  /// For a crash model: a sync of the file after the work, which may only read it.
  func synchronizeFile(_ path: String, while work: () throws -> Void) throws

  func synchronizeDirectory(_ path: String) throws(FileError)

  func link(_ path: String, to newPath: String) throws(FileError)

  /// Never use it on a store that SQLite has open in this process: closing the file drops SQLite's
  /// locks.
  ///
  /// Shares blocks where the file system can. The copy is synced and has the file's times, access
  /// list and extended attributes; returns those that could not be copied.
  @discardableResult
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  func rename(_ path: String, to newPath: String) throws(FileError)

  func unlink(_ path: String) throws(FileError)

  /// Follows no symbolic link, and drops no lock on the file.
  func setMode(_ mode: UInt32, of path: String) throws(FileError)

  /// For a crash model: the folder's next sync makes it durable.
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError)

  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8]

  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8]

  func resolvePath(_ path: String) throws(FileError) -> String

  func checkWritable(_ folder: String) throws(FileError)

  /// The lock file is never removed: that would make the lock unsound.
  ///
  /// `nil` if another holder, in any process, keeps it for the whole timeout.
  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)?

  /// Close it after SQLite has closed its own handle of the file, never before: the first close in
  /// a process drops all of its POSIX locks on the file, SQLite's among them.
  func hold(_ path: String) throws(FileError) -> any HeldFile

  func volume(of path: String) throws(FileError) -> VolumeInformation

  /// 32 lowercase hexadecimal digits that no other call, in any process, returns.
  func uniqueIdentifier() -> String
}

extension FileOperations {
  package var withoutLinks: any FileOperations { self }

  package func synchronizeFile(_ path: String, while work: () throws -> Void) throws {
    try work()
    try synchronizeFile(path)
  }
}

/// A lock on a file, held until it is closed or deallocated.
package protocol FileLock: AnyObject, Sendable {
  func close()
}

/// Receives the number of bytes just copied, and returns false to stop the copy.
package typealias CopyWatch = (_ bytes: Int64) -> Bool

/// A file held open beside SQLite.
package protocol HeldFile: AnyObject, Sendable {
  func status() throws(FileError) -> FileStatus

  /// Shares blocks and syncs nothing; returns false if the file system can't do that.
  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool

  /// The copy is synced; returns the attributes that could not be copied.
  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  /// For a crash model: a new name in the folder, then content, and no sync of either.
  ///
  /// If `goesOn` stops the copy, it throws `ECANCELED` and leaves no file.
  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError)

  /// The clone may have been changed since; ascending, and empty if the ranges can't be known.
  ///
  /// For a crash model: the file's content reaches the volume, but nothing is sure to stay.
  func sharedRanges(withCloneAt path: String) -> [Range<Int64>]

  /// Never pass a file that SQLite has open: it is closed here.
  ///
  /// For a crash model: the file's next sync makes them durable. Returns the attributes that could
  /// not be copied.
  func giveAttributes(to path: String) throws(FileError) -> PassedOver

  /// New files in a folder get its class too; returns the class if it could not be set.
  func giveProtection(to path: String) throws(FileError) -> PassedOver

  func synchronize() throws(FileError)

  func close()
}
