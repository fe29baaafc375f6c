package import Foundation

/// Text that is compared with a file beside the tests.
///
/// `RECORD_SNAPSHOTS=1` writes the files, and fails the run so that nobody leaves it on.
package enum TextSnapshot {
  package static let isRecording = ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil

  /// Returns `nil` if the file holds the text; its name is in kebab case.
  package static func complaint(about text: String, file: URL) throws -> String? {
    if isRecording {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return "recorded \(file.lastPathComponent); run again without RECORD_SNAPSHOTS"
    }
    guard let data = try? Data(contentsOf: file) else {
      return "\(file.lastPathComponent) is missing: RECORD_SNAPSHOTS=1 writes it"
    }
    let expected = String(decoding: data, as: UTF8.self)
    guard expected != text else { return nil }
    let (found, wanted) = (lines(text), lines(expected))
    let index = zip(found, wanted).enumerated().first { $1.0 != $1.1 }?.offset ?? min(found.count, wanted.count)
    func line(_ lines: [Substring]) -> String { index < lines.count ? "\"\(lines[index])\"" : "the end" }
    return """
      \(file.lastPathComponent), line \(index + 1): expected \(line(wanted)), found \(line(found)); RECORD_SNAPSHOTS=1 \
      records all of it:
      \(text)
      """
  }

  private static func lines(_ text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
  }
}
