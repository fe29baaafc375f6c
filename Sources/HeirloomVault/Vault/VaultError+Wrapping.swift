import HeirloomStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension VaultError {
  /// Runs file operations, and turns their errors into errors of the vault.
  package static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(VaultError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      throw .file(error)
    }
  }
}

extension VaultError {
  /// Runs a body that may throw anything, and turns errors of file operations into errors of the vault.
  static func wrappingFileErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FileError {
      throw VaultError.file(error)
    }
  }
}

extension FileError {
  /// True when the file system, or a rule of the system's, refuses links that are possible elsewhere.
  ///
  /// `EPERM` is the answer of FAT and of protected hard links,
  /// `EMLINK` means a file with too many names, and `EXDEV` a file that is mounted from elsewhere.
  var isRefusedLink: Bool {
    operation == .link && [EPERM, EMLINK, EXDEV, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }
}
