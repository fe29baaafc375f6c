import HeirloomStore

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
