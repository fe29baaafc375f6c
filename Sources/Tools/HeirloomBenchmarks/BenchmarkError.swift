import Foundation

enum BenchmarkError: Error, Hashable {
  case usage(String)
  case childFailed(name: String, reason: String)
  case system(call: String, path: String, code: Int32)
  case unwritable(path: String)
  case differentContents(subject: String, expected: String, found: String)
  case unexpectedChange(String)
  case unexpectedOutcome(expected: String, found: String)
  /// One sentence for each figure.
  case overCeilings([String])
}

extension BenchmarkError: CustomStringConvertible {
  var description: String {
    switch self {
    case .usage(let reason): reason
    case .childFailed(let name, let reason): "The run \"\(name)\" failed: \(reason)"
    case .system(let call, let path, let code): "\(call) failed for \(path) with error \(code)."
    case .unwritable(let path):
      "The plot can't be written to \(path): name a file in a folder that is there and may be written; the report above is whole."
    case .differentContents(let subject, let expected, let found):
      "The contents differ: \(subject) gives \(found) instead of \(expected)."
    case .unexpectedChange(let what): "A launch with nothing to do changed something: \(what)."
    case .unexpectedOutcome(let expected, let found): "The outcome is \(found); \(expected) was expected."
    case .overCeilings(let sentences): sentences.joined(separator: "\nerror: ")
    }
  }
}

extension BenchmarkError {
  /// With a subject, the error is about contents, else about an outcome.
  static func require(
    _ isRight: Bool, _ subject: String? = nil, expected: @autoclosure () -> String, found: @autoclosure () -> String
  ) throws(BenchmarkError) {
    guard !isRight else { return }
    guard let subject else { throw .unexpectedOutcome(expected: expected(), found: found()) }
    throw .differentContents(subject: subject, expected: expected(), found: found())
  }

  /// Returns the status of a system call unless it failed.
  @discardableResult
  static func check(_ call: String, _ path: String, _ status: Int32) throws(BenchmarkError) -> Int32 {
    guard status >= 0 else { throw .system(call: call, path: path, code: errno) }
    return status
  }
}
