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
  /// The same operations for paths that were resolved before: they follow no symbolic links.
  ///
  /// A user with write permission for one of the folders could have put a link there since.
  var withoutLinks: any FileOperations { get }

  /// Reads the status of a name, without following a symbolic link; `nil` if there is no such name.
  func status(of path: String) throws(FileError) -> FileStatus?

  /// Lists the names in a folder, sorted, without `.` and `..`.
  func names(in folder: String) throws(FileError) -> [String]

  /// Creates a folder; throws when the name exists.
  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError)

  /// Removes an empty folder.
  func removeDirectory(_ path: String) throws(FileError)

  /// Creates an empty file and syncs nothing.
  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError)

  /// Creates a file, writes its content and syncs the content.
  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError)

  /// Syncs a file's content to the disk.
  func synchronizeFile(_ path: String) throws(FileError)

  /// Syncs a file's content during work that only reads it; the work's error takes precedence.
  ///
  /// For a crash model: it is a sync of the file after the work.
  func synchronizeFile(_ path: String, while work: () throws -> Void) throws

  /// Syncs a folder's names to the disk.
  func synchronizeDirectory(_ path: String) throws(FileError)

  /// Gives a file a second name; throws when the new name exists.
  func link(_ path: String, to newPath: String) throws(FileError)

  /// Copies a file to a new name, syncs the copy and returns the attributes that could not be copied.
  ///
  /// Blocks are shared (reflink, clone) where the file system can do that. Never use it
  /// on a store that SQLite has open in this process: closing the file drops SQLite's locks. ``hold(_:)`` is for that.
  /// The copy has the file's times, access list and extended attributes as well.
  @discardableResult
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  /// Renames a file or a folder, and replaces an existing file of the new name.
  func rename(_ path: String, to newPath: String) throws(FileError)

  /// Removes a name of a file.
  func unlink(_ path: String) throws(FileError)

  /// Changes a file's permission bits by path: follows no symbolic link, and drops no lock on the file.
  func setMode(_ mode: UInt32, of path: String) throws(FileError)

  /// Excludes a folder and its content from backups, or includes it again.
  ///
  /// For a crash model: the folder's next sync makes it durable.
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError)

  /// Reads a file's content; throws when it is longer than a limit.
  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8]

  /// Reads up to `count` bytes from a file's start.
  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8]

  /// Returns an existing path with all symbolic links resolved.
  func resolvePath(_ path: String) throws(FileError) -> String

  /// Checks that this process may list, create and remove names in a folder.
  func checkWritable(_ folder: String) throws(FileError)

  /// Locks a file against other holders of the lock in any process; creates the file if it is absent.
  ///
  /// The lock file is never removed: removing it would make the lock unsound.
  /// The lock is held until it is closed; `nil` if another holder keeps it for the whole timeout.
  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)?

  /// Opens a file for later cloning, copying and syncing while SQLite also has it open.
  ///
  /// Close it after SQLite has closed its own handle, never before: the first close of the file in a process drops all
  /// of the process's POSIX locks on it, SQLite's among them.
  func hold(_ path: String) throws(FileError) -> any HeldFile

  /// Reads a volume's kind and free space.
  func volume(of path: String) throws(FileError) -> VolumeInformation

  /// Returns 32 lowercase hexadecimal digits that no other call, in any process, returns.
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
  /// Releases the lock; further calls do nothing.
  func close()
}

/// A function that receives the number of bytes just copied, and returns false to stop the copy.
package typealias CopyWatch = (_ bytes: Int64) -> Bool

/// A file held open beside SQLite.
package protocol HeldFile: AnyObject, Sendable {
  /// Reads the file's status.
  func status() throws(FileError) -> FileStatus

  /// Creates a file that shares this one's blocks, without syncing it; returns false if the file system can't do that.
  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool

  /// Creates a file with this one's content, times and attributes, and syncs it.
  ///
  /// Returns the attributes that could not be copied.
  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  /// Creates a file with this one's content, for the caller to change and sync later.
  ///
  /// For a crash model: a new name in the folder, then content, and no sync of either.
  /// If `goesOn` stops the copy, it throws `ECANCELED` and leaves no file.
  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError)

  /// Returns the byte ranges that a clone still shares with this file, ascending; empty if they can't be known.
  ///
  /// The clone was made by ``clone(to:attributes:)`` and may have been changed since.
  /// For a crash model: the file's content reaches the volume, but nothing is sure to stay.
  func sharedRanges(withCloneAt path: String) -> [Range<Int64>]

  /// Gives another file this one's permissions, access list and extended attributes, and no others.
  ///
  /// For a crash model: the file's next sync makes them durable. Never pass a file that SQLite has open: it is closed
  /// here. Returns the attributes that could not be copied.
  func giveAttributes(to path: String) throws(FileError) -> PassedOver

  /// Gives a folder or an empty file this one's protection class, where the system has such classes.
  ///
  /// New files in the folder get the class too. Returns the class if it could not be set.
  func giveProtection(to path: String) throws(FileError) -> PassedOver

  /// Syncs the file's content to the disk.
  func synchronize() throws(FileError)

  /// Closes the file; further calls do nothing.
  func close()
}
