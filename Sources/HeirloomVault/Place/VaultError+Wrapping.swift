import HeirloomStore

extension VaultError {
  /// Runs file operations, and wraps their errors.
  package static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(VaultError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      throw .file(error)
    }
  }
}

extension VaultError {
  /// Runs a body that may throw anything, and wraps errors of file operations.
  static func wrappingFileErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FileError {
      throw VaultError.file(error)
    }
  }
}
