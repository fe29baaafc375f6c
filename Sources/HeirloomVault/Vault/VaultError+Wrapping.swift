import HeirloomStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension VaultError {
  /// Runs file operations, and makes an error of the vault of what they throw.
  package static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(VaultError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      throw .file(error)
    }
  }
}

extension VaultError {
  /// Runs what may throw anything, and makes an error of the vault of what file operations throw.
  static func wrappingFileErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FileError {
      throw VaultError.file(error)
    }
  }
}

extension FileError {
  /// Whether the file system, or a rule of the system's, refuses links that are possible elsewhere.
  ///
  /// `EPERM` is FAT's answer and that of protected hard links, `EMLINK` a file with too many names, `EXDEV` a file that is
  /// mounted from elsewhere.
  var isRefusedLink: Bool {
    operation == .link && [EPERM, EMLINK, EXDEV, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }
}
