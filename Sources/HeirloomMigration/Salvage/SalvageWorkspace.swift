import Foundation
import HeirloomStore

/// A private folder in which a damaged store is copied and made readable.
///
/// SQLite never sees the original: it would write to it, or make files beside it.
final class SalvageWorkspace {
  /// The folder: nobody else may look into it.
  let folder: String
  /// The copy of the main file; a journal was undone in it and the `-wal` was put into it.
  let path: String
  /// What the copy's first page says, or what stands in for it.
  private(set) var header = DatabaseHeader(pageSize: 4096)
  /// What was found on the way, in sentences.
  private(set) var notes: [String] = []
  /// Pages whose last state is damaged in the `-wal`.
  private(set) var lostPages: [Int] = []
  /// Whether something of the store was damaged or missing already in its files.
  private(set) var isDamaged = false

  private let files: any FileOperations
  private let location: StoreLocation

  /// Makes the folder.
  init(for location: StoreLocation, in directory: String, files: any FileOperations) throws(FileError) {
    self.files = files
    self.location = location
    folder = StoreLocation.join(directory, ".salvage-" + files.uniqueIdentifier())
    path = StoreLocation.join(folder, "damaged")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
  }

  /// Removes the folder with everything in it.
  func remove() throws(FileError) {
    try FolderTree(files: files).remove(folder)
  }

  /// Copies the store and makes the copy one file.
  func prepare() throws(SalvageError) {
    try salvageErrors(location.path) {
      try copy()
      if try files.status(of: path + "-journal") != nil { try undoChange() }
      try replayLog()
      try prepareHeader()
    }
  }

  // MARK: Copying

  private struct State: Equatable {
    var sizes: [Int64?]
    var times: [Int64?]
  }

  private func state() throws(FileError) -> State {
    let all = try [location.path, location.path + "-wal", location.path + "-journal"].map { path throws(FileError) in
      try files.status(of: path)
    }
    return State(sizes: all.map { $0?.size }, times: all.map { $0?.modificationTime })
  }

  private func copy() throws {
    for _ in 0..<3 {
      let before = try state()
      for suffix in ["", "-wal", "-journal"] {
        if try files.status(of: path + suffix) != nil { try files.unlink(path + suffix) }
        guard let status = try files.status(of: location.path + suffix), status.kind == .regular else { continue }
        try copyFile(location.path + suffix, to: path + suffix)
      }
      if try state() == before { return }
    }
    throw SalvageError(storePath: location.path, problem: .inUse)
  }

  private func copyFile(_ source: String, to copy: String) throws(FileError) {
    do throws(FileError) {
      try files.copyFile(source, to: copy, attributes: FileAttributes(mode: 0o600))
    } catch {
      // A disk that can't read some of its blocks reads the others.
      guard error.code == EIO else { throw error }
      if try files.status(of: copy) != nil { try files.unlink(copy) }
      try copyBlocks(source, to: copy)
    }
  }

  private func copyBlocks(_ source: String, to copy: String) throws(FileError) {
    let blockSize = 4096
    let from = try FileDescriptor(source, flags: O_RDONLY, for: .copy)
    let to = try FileDescriptor.makeNew(copy, attributes: FileAttributes(mode: 0o600), for: .copy)
    let size = try from.status(for: .copy).size
    try to.truncate(to: size)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    var unreadable = 0
    while offset < size {
      if let count = try? from.read(into: buffer, at: offset, for: .copy) {
        try to.write(Array(buffer[..<count]), at: offset)
      } else {
        unreadable += 1
      }
      offset += Int64(blockSize)
    }
    guard unreadable > 0 else { return }
    isDamaged = true
    notes.append(
      "The disk can't read \(unreadable) blocks of \(source) any more; copy what is on it to another disk soon.")
  }

  // MARK: One file

  /// Lets SQLite undo a change that was interrupted.
  private func undoChange() throws {
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .readWrite, options: .looking)
      _ = try connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")
      try connection.close()
    } catch {
      // A disk that fails here is no damage of the store: the next run undoes the change.
      guard error.isAboutContent else { throw error }
      isDamaged = true
      notes.append(
        "An interrupted change could not be undone from the \"-journal\" (\(error.message)): objects that it concerned may be of"
          + " the time before or after it.")
    }
    for suffix in ["-journal", "-shm"] where try files.status(of: path + suffix) != nil {
      try files.unlink(path + suffix)
    }
  }

  private func replayLog() throws(FileError) {
    guard let log = try files.status(of: path + "-wal"), log.size > 0 else { return }
    let start = try files.readStart(of: path, count: DatabaseHeader.byteCount)
    var declared = DatabaseHeader(start)?.pageSize
    if declared == nil {
      declared = try DatabaseHeader.guessedPageSize(try FileDescriptor(path, flags: O_RDONLY, for: .read))
    }
    let outcome = try LogReplay(path + "-wal").run(into: path, pageSize: declared)
    for suffix in ["-wal", "-shm"] where try files.status(of: path + suffix) != nil { try files.unlink(path + suffix) }
    guard let outcome, outcome.damagedCount > 0 else { return }
    isDamaged = true
    lostPages = outcome.lostPages
    notes.append(
      "\(outcome.damagedCount) of the \(outcome.frameCount) pages in the \"-wal\" are damaged; \(lostPages.count) pages are"
        + " not known in their last state.")
  }

  /// Makes sure that the first page tells of a database as large as it is, in one file.
  private func prepareHeader() throws {
    let file = try FileDescriptor(path, flags: O_RDWR, for: .write)
    let size = try file.status(for: .read).size
    let start = try files.readStart(of: path, count: DatabaseHeader.byteCount)
    if let found = DatabaseHeader(start) {
      header = found
    } else {
      guard let pageSize = try DatabaseHeader.guessedPageSize(file) else {
        throw SalvageError(storePath: location.path, problem: size == 0 ? .empty : .notDatabase)
      }
      header = DatabaseHeader(pageSize: pageSize)
      isDamaged = true
      notes.append("The file's header is damaged; its pages were found to be of \(pageSize) bytes.")
    }
    let pageCount = Int(clamping: size / Int64(header.pageSize))
    guard pageCount >= 1 else { throw SalvageError(storePath: location.path, problem: .notDatabase) }
    let declaredCount = header.isRepaired ? pageCount : bigEndian(start, at: 28)
    // The number counts only if it was written with the last change.
    let isCurrent = !header.isRepaired && start[24..<28].elementsEqual(start[92..<96])
    if isCurrent, declaredCount != pageCount {
      if declaredCount > pageCount {
        isDamaged = true
        header.formerPageCount = declaredCount
        notes.append("The file ends after \(pageCount) of \(declaredCount) pages: the rest is missing.")
      } else {
        notes.append("The file goes on for \(pageCount - declaredCount) pages after its end, which were left alone.")
        try file.truncate(to: Int64(declaredCount) * Int64(header.pageSize))
      }
    }
    if Int64(pageCount) * Int64(header.pageSize) != size, !(isCurrent && declaredCount < pageCount) {
      try file.truncate(to: Int64(pageCount) * Int64(header.pageSize))
    }
    if header.isRepaired {
      let image = try DatabaseImage(path: path, header: header)
      let autoVacuums = try PointerMap(image, isDeclared: nil) != nil
      try file.write(header.bytes(pageCount: pageCount, autoVacuums: autoVacuums), at: 0)
    } else {
      // One file: SQLite would look for the `-wal` that is already in it.
      try file.write([1, 1], at: 18)
      if isCurrent, declaredCount > pageCount {
        try file.write((0..<4).map { UInt8(truncatingIfNeeded: pageCount >> (24 - 8 * $0)) }, at: 28)
      }
    }
    for page in lostPages where page > 1 {
      try file.write([UInt8](repeating: 0, count: header.pageSize), at: Int64(page - 1) * Int64(header.pageSize))
    }
  }
}

/// Runs a body and makes whatever it throws an error of salvage.
func salvageErrors<Value>(_ path: String, _ body: () throws -> Value) throws(SalvageError) -> Value {
  do {
    return try body()
  } catch let error as SalvageError {
    throw error
  } catch {
    throw SalvageError(storePath: path, problem: .failed(reason: "\(error)"))
  }
}
