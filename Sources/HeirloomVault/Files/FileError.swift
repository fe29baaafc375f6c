import Foundation
package import HeirloomFormats

package struct FileError: Error, Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable {
    case status = "read the status of"
    case list = "list"
    case makeDirectory = "make the folder"
    case removeDirectory = "remove the folder"
    case write = "write the new file"
    case synchronizeFile = "sync the file"
    case synchronizeDirectory = "sync the folder"
    case link = "link"
    case copy = "copy"
    case rename = "rename"
    case unlink = "remove"
    case setMode = "change the permissions of"
    case giveAttributes = "give attributes to"
    case read = "read"
    case resolve = "resolve"
    case checkWritable = "write in"
    case lock = "lock"
    case volume = "read the volume of"
  }

  package let operation: Operation

  package let path: String

  package let otherPath: String?

  package let code: Int32

  private let phrase: String?

  /// Made on demand: most errors are expected, and their text is never read.
  package var reason: String { phrase ?? Self.text(for: code) }

  package init(
    _ operation: Operation, _ path: String, to otherPath: String? = nil, code: Int32, reason: String? = nil
  ) {
    self.operation = operation
    self.path = path
    self.otherPath = otherPath
    self.code = code
    phrase = reason
  }

  package var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// On Apple's systems, the system refuses to open existing files while the device is locked.
  package var isDenied: Bool { code == EPERM && [.read, .copy, .lock].contains(operation) }

  /// FAT and protected hard links answer `EPERM`; `EMLINK` means too many names, and `EXDEV` a file
  /// that is mounted from elsewhere.
  var isRefusedLink: Bool {
    operation == .link && [EPERM, EMLINK, EXDEV, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }

  /// In `NSCocoaErrorDomain`.
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
  package var cause: String {
    let target = otherPath.map { " to \"\($0)\"" } ?? ""
    return "could not \(operation.rawValue) \"\(path)\"\(target): \(reason) (errno \(code))"
  }

  package var errorDescription: String? { ErrorWords.sentence(description) }

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

  package var filePath: String? { path }

  /// 134080 is Core Data's code of a store that can't be opened.
  package var coreDataCode: Int? { foundationCode ?? 134_080 }
}
