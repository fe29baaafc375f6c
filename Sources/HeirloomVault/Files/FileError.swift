import Foundation
package import HeirloomFormats

/// A failed operation of the file system.
package struct FileError: Error, Hashable, Sendable {
  /// The operations of the file system.
  package enum Operation: String, Hashable, Sendable {
    /// Reading the status of a name.
    case status = "read the status of"
    /// Listing a folder.
    case list = "list"
    /// Making a folder.
    case makeDirectory = "make the folder"
    /// Removing an empty folder.
    case removeDirectory = "remove the folder"
    /// Making and writing a new file.
    case write = "write the new file"
    /// Syncing a file's content to the disk.
    case synchronizeFile = "sync the file"
    /// Syncing a folder's names to the disk.
    case synchronizeDirectory = "sync the folder"
    /// Giving a file a second name.
    case link = "link"
    /// Copying a file.
    case copy = "copy"
    /// Renaming a file or folder.
    case rename = "rename"
    /// Removing a file's name.
    case unlink = "remove"
    /// Changing a file's permissions.
    case setMode = "change the permissions of"
    /// Copying a file's attributes to another file.
    case giveAttributes = "give attributes to"
    /// Reading a file.
    case read = "read"
    /// Following symbolic links.
    case resolve = "resolve"
    /// Checking that a folder is writable.
    case checkWritable = "write in"
    /// Taking a lock.
    case lock = "lock"
    /// Reading a volume's kind and free space.
    case volume = "read the volume of"
  }

  /// The operation that failed.
  package let operation: Operation

  /// The file or folder of the operation.
  package let path: String

  /// The second file of a link, a copy or a rename.
  package let otherPath: String?

  /// The system's error number (`errno`).
  package let code: Int32

  private let phrase: String?

  /// The system's text for the error number, or the phrase that replaces it.
  ///
  /// It is made on demand: most errors are expected, and their text is never read.
  package var reason: String { phrase ?? Self.text(for: code) }

  /// Creates an error; a `reason` replaces the system's text.
  package init(
    _ operation: Operation, _ path: String, to otherPath: String? = nil, code: Int32, reason: String? = nil
  ) {
    self.operation = operation
    self.path = path
    self.otherPath = otherPath
    self.code = code
    phrase = reason
  }

  /// True when the volume, or this process's quota on it, is full.
  package var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// True when the system refuses to open an existing file: on Apple's systems, while the device is locked.
  package var isDenied: Bool { code == EPERM && [.read, .copy, .lock].contains(operation) }

  /// True when the file system, or a system policy, refuses links that are possible elsewhere.
  ///
  /// FAT and protected hard links answer `EPERM`.
  /// `EMLINK` means a file with too many names, and `EXDEV` a file that is mounted from elsewhere.
  var isRefusedLink: Bool {
    operation == .link && [EPERM, EMLINK, EXDEV, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }

  /// The code of a similar failure in Foundation's `NSCocoaErrorDomain`; `nil` if there is none.
  package var foundationCode: Int? {
    switch code {
    case ENOSPC, EDQUOT: 640
    case EROFS: 642
    case EACCES, EPERM: 513
    case ENAMETOOLONG: 514
    default: nil
    }
  }

  private static func text(for code: Int32) -> String {
    // strerror is not thread-safe; Foundation's table is.
    POSIXErrorCode(rawValue: code).map { ErrorWords.systemWords(of: POSIXError($0)) } ?? "error \(code)"
  }
}

extension FileError: ExplainedError {
  /// The operation, the paths and the system's reason, as a part of a sentence.
  package var cause: String {
    let target = otherPath.map { " to \"\($0)\"" } ?? ""
    return "could not \(operation.rawValue) \"\(path)\"\(target): \(reason) (errno \(code))"
  }

  /// The cause as a sentence.
  package var errorDescription: String? { ErrorWords.sentence(description) }

  /// Advice on how to make the operation succeed; the enclosing error adds the role of the file.
  package var help: ErrorHelp {
    let advice =
      switch code {
      case _ where isFull: "Free some space on its volume, then try again."
      case ELOOP, ENOTDIR: "Check the path and the links in it."
      case _ where operation == .resolve:
        "Put the folder or the volume back there, or a link to a folder of the link's owner; then try again."
      case EEXIST where operation == .write: "Find out who made it and move it away, then try again."
      case ENOENT where operation == .write: "Create its folder, then try again."
      case EROFS: "Its volume is mounted read-only: remount it for writing, or move the store to another volume."
      case ENAMETOOLONG: "Move the store to a folder with a shorter path, or give it a shorter name, then try again."
      case _ where isDenied: ErrorWords.deniedAdvice
      case EACCES, EPERM: "Give this process the right to read and write there, then try again."
      default: "Try again; if it fails again, check the volume and its connection."
      }
    return ErrorHelp(nil, advice)
  }

  /// The path of the operation.
  package var filePath: String? { path }

  /// The code that Foundation gives a similar failure, or the code of a store that can't be opened.
  package var coreDataCode: Int? { foundationCode ?? 134_080 }
}
