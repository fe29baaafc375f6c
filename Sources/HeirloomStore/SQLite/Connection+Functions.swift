import CHeirloomSQLite
import Foundation

/// Positions count from 0; the arguments are valid only during the call.
package struct FunctionArguments: ~Copyable {
  package let count: Int
  private let values: UnsafeMutablePointer<OpaquePointer?>?

  init(count: Int32, values: UnsafeMutablePointer<OpaquePointer?>?) {
    self.count = Int(count)
    self.values = values
  }

  package func storageClass(at position: Int) -> StorageClass {
    argument(position).flatMap { StorageClass(rawValue: sqlite3_value_type($0)) } ?? .null
  }

  package func integer(at position: Int) -> Int64 {
    argument(position).map { sqlite3_value_int64($0) } ?? 0
  }

  package func double(at position: Int) -> Double {
    argument(position).map { sqlite3_value_double($0) } ?? 0
  }

  package func text(at position: Int) -> String? {
    guard let argument = argument(position), let text = sqlite3_value_text(argument) else { return nil }
    let count = Int(sqlite3_value_bytes(argument))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// A text's bytes are UTF-8, and `NULL` has none.
  package func withBytes<Value, Failure: Error>(
    at position: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let argument = argument(position), let start = sqlite3_value_blob(argument) else {
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument))))
  }

  package func value(at position: Int) -> SQLiteValue {
    switch storageClass(at: position) {
    case .null: .null
    case .integer: .integer(integer(at: position))
    case .real: .real(double(at: position))
    case .text: .text(text(at: position) ?? "")
    case .blob: .blob(withBytes(at: position) { Array($0) })
    }
  }

  private func argument(_ position: Int) -> OpaquePointer? {
    guard position >= 0, position < count else { return nil }
    return values?[position]
  }
}

extension Connection {
  /// Owned by SQLite.
  private final class Function {
    let body: (borrowing FunctionArguments) throws -> SQLiteValue

    init(body: @escaping (borrowing FunctionArguments) throws -> SQLiteValue) {
      self.body = body
    }
  }

  /// An `argumentCount` of -1 is any; an error of `body` becomes the statement's message.
  package func registerFunction(
    _ name: String, argumentCount: Int32, isDeterministic: Bool = false,
    _ body: @escaping (borrowing FunctionArguments) throws -> SQLiteValue
  ) throws(SQLiteError) {
    // The schema isn't trusted: triggers and views may only call functions that are declared innocuous.
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
    let function = Unmanaged.passRetained(Function(body: body))
    let status = sqlite3_create_function_v2(
      try openHandle(), name, argumentCount, flags, function.toOpaque(),
      { context, count, values in
        guard let data = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
        let function = Unmanaged<Function>.fromOpaque(data).takeUnretainedValue()
        do {
          Connection.setResult(try function.body(FunctionArguments(count: count, values: values)), of: context)
        } catch {
          sqlite3_result_error(context, String(describing: error), -1)
        }
      }, nil, nil,
      { data in
        // SQLite calls this also when the registration fails.
        if let data { Unmanaged<Function>.fromOpaque(data).release() }
      })
    try check(status, sql: nil)
  }

  private static func setResult(_ value: SQLiteValue, of context: OpaquePointer?) {
    switch value {
    case .null:
      sqlite3_result_null(context)
    case .integer(let integer):
      sqlite3_result_int64(context, integer)
    case .real(let real):
      sqlite3_result_double(context, real)
    case .text(var text):
      text.withUTF8 { bytes in
        guard let base = bytes.baseAddress else {
          return sqlite3_result_text(context, "", 0, heirloom_sqlite_transient())
        }
        base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
          sqlite3_result_text64(
            context, $0, UInt64(bytes.count), heirloom_sqlite_transient(), UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let bytes):
      bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress, bytes.count > 0 else {
          sqlite3_result_zeroblob(context, 0)
          return
        }
        sqlite3_result_blob64(context, base, UInt64(bytes.count), heirloom_sqlite_transient())
      }
    }
  }
}
