/// The one seam between Heirloom and the file system.
///
/// The vault changes files only through these calls, so a test can record them, fail any one of them, and rebuild each
/// state that a loss of power may leave. (SQLite writes in the held store and in the candidate through its own layer.)
/// Everything is by path; no descriptor leaves, apart from the two handles below.
/// A name that is not UTF-8 has a text all the same, which leads back to its bytes.
///
/// For a crash model: ``writeNewFile(_:bytes:attributes:)``, ``copyFile(_:to:attributes:)``
/// and ``HeldFile/copy(to:attributes:)`` make a new name in the folder, then write content,
/// then sync the content (not the name). Names are durable only after ``synchronizeDirectory(_:)`` of their folder.
package protocol FileOperations: Sendable {
  /// The same operations for paths that were resolved before: they follow no symbolic link on the way.
  ///
  /// Anyone who can write in one of the folders could put a link there in the meantime.
  var withoutLinks: any FileOperations { get }

  /// Reads the status of a name, without following a symbolic link.
  ///
  /// - Parameter path: The name's path.
  /// - Returns: The status; `nil` when there is no such name.
  /// - Throws: `FileError` when the system can't tell.
  func status(of path: String) throws(FileError) -> FileStatus?

  /// Lists the names in a folder, sorted, without `.` and `..`.
  func names(in folder: String) throws(FileError) -> [String]

  /// Makes a folder; throws when the name exists.
  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError)

  /// Removes an empty folder.
  func removeDirectory(_ path: String) throws(FileError)

  /// Makes a new file without content, and brings nothing to the disk.
  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError)

  /// Makes a new file, writes its content and brings the content to the disk.
  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError)

  /// Brings a file's content to the disk.
  func synchronizeFile(_ path: String) throws(FileError)

  /// Brings a file's content to the disk during work that only reads it.
  ///
  /// For a crash model: it is a sync of the file after the work.
  ///
  /// - Throws: The work's error, or `FileError` when the content can't be brought to the disk.
  func synchronizeFile(_ path: String, while work: () throws -> Void) throws

  /// Brings a folder's names to the disk.
  func synchronizeDirectory(_ path: String) throws(FileError)

  /// Gives a file a second name; throws when the new name exists.
  func link(_ path: String, to newPath: String) throws(FileError)

  /// Copies a file to a new name and brings the copy's content to the disk.
  ///
  /// Blocks are shared (reflink, clone) where the file system can do that. Never use it
  /// on a store that SQLite has open in this process: closing the file drops SQLite's locks. ``hold(_:)`` is for that.
  /// The copy has the file's times, access list and extended attributes as well.
  ///
  /// - Returns: The attributes that could not be carried over.
  @discardableResult
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  /// Renames a file or a folder, and replaces anything that has the new name.
  func rename(_ path: String, to newPath: String) throws(FileError)

  /// Removes a name of a file.
  func unlink(_ path: String) throws(FileError)

  /// Changes a file's permission bits, by its name: follows no symbolic link, and drops no lock on the file.
  func setMode(_ mode: UInt32, of path: String) throws(FileError)

  /// Marks a folder as one that backups leave out with all that is in it, or takes the mark away.
  ///
  /// For a crash model: the folder's next sync brings the mark to the disk.
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError)

  /// Reads a file's content; throws when it is longer than a limit.
  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8]

  /// Reads at most a number of bytes from a file's start.
  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8]

  /// Follows all symbolic links of a path that exists.
  func resolvePath(_ path: String) throws(FileError) -> String

  /// Checks that this process may list, make and remove names in a folder.
  func checkWritable(_ folder: String) throws(FileError)

  /// Locks a file against other holders of the lock in any process; makes the file when it is absent.
  ///
  /// - Parameters:
  ///   - path: The lock file. It is never removed: removing it would make the lock unsound.
  ///   - timeout: The time to wait for another holder.
  /// - Returns: The lock, held until it is closed; `nil` when the time is over.
  /// - Throws: `FileError` when the file can't be opened or locked at all.
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

/// A function that hears of the bytes that were just copied, and returns false to stop the copy.
package typealias CopyWatch = (_ bytes: Int64) -> Bool

/// A file held open beside SQLite.
package protocol HeldFile: AnyObject, Sendable {
  /// Reads the file's status.
  func status() throws(FileError) -> FileStatus

  /// Makes a new file that shares this one's blocks; its content is not brought to the disk.
  ///
  /// - Parameters:
  ///   - path: The new file, which must not exist.
  ///   - attributes: The new file's permissions and owner.
  /// - Returns: True when the new file was made; false when the file system can't share blocks.
  /// - Throws: `FileError` when the file could not be made.
  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool

  /// Makes a new file with this one's content, times and attributes, and brings it to the disk.
  ///
  /// - Returns: The attributes that could not be carried over.
  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver

  /// Makes a new file with this one's content, for the caller to change and bring to the disk later.
  ///
  /// For a crash model: a new name in the folder, then content, and no sync of either.
  ///
  /// - Parameters:
  ///   - path: The new file.
  ///   - attributes: Its permissions and owner.
  ///   - goesOn: Hears of what was copied.
  /// - Throws: `FileError`, with `ECANCELED` when `goesOn` has stopped it; there is no file then.
  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError)

  /// Returns where a clone of this file still is the same blocks of the volume, as far as the system tells.
  ///
  /// For a crash model: the file's content reaches the volume, but nothing is sure to stay.
  ///
  /// - Parameter path: A file that ``clone(to:attributes:)`` made, and that may have been changed since.
  /// - Returns: Ranges of the file in bytes, rising; none where nothing is known.
  func sharedRanges(withCloneAt path: String) -> [Range<Int64>]

  /// Gives another file this one's permissions, access list and extended attributes, and no others.
  ///
  /// For a crash model: the file's next sync brings them to the disk. Close no file here that SQLite has open.
  ///
  /// - Parameter path: The file.
  /// - Returns: The attributes that could not be carried over.
  /// - Throws: `FileError` when the file can't be opened, or can't have its permissions.
  func giveAttributes(to path: String) throws(FileError) -> PassedOver

  /// Gives a folder or an empty file this one's protection class, where the system has such classes.
  ///
  /// - Parameter path: The folder, whose new files get the class too, or the file.
  /// - Returns: The class, if it could not be given.
  /// - Throws: `FileError` when the path can't be opened.
  func giveProtection(to path: String) throws(FileError) -> PassedOver

  /// Brings the file's content to the disk.
  func synchronize() throws(FileError)

  /// Closes the file; further calls do nothing.
  func close()
}
