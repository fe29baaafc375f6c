import HeirloomStore

extension VaultError {
  package static func wrapping<Value>(_ body: () throws(FileError) -> Value) throws(VaultError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      throw .file(error)
    }
  }
}

extension VaultError {
  static func wrappingFileErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FileError {
      throw VaultError.file(error)
    }
  }
}
