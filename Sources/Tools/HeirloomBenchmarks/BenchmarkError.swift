/// A benchmark that couldn't run, or whose results are wrong.
enum BenchmarkError: Error, Hashable {
  /// The command line is invalid.
  case usage(String)
  /// A child process failed.
  case childFailed(name: String, reason: String)
  /// A system call failed.
  case system(call: String, path: String, code: Int32)
  /// The plot couldn't be written.
  case unwritable(path: String)
  /// Two ways to migrate have different results.
  case differentContents(subject: String, expected: String, found: String)
  /// A launch with nothing to do changed something.
  case unexpectedChange(String)
  /// A call had another outcome than the benchmark requires.
  case unexpectedOutcome(expected: String, found: String)
  /// Figures of the guard exceed their ceilings, with a sentence for each.
  case overCeilings([String])
}

extension BenchmarkError: CustomStringConvertible {
  /// One sentence with what was found and what was expected.
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
