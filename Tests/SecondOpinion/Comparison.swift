import Foundation

/// The comparison of the reader of Swift source with the toolchain's own parser: see `.ci/second-opinion`.
///
/// ```
/// second-opinion FOLDER…     all files below the folders that end with .swift or .swiftinterface
/// ```
@main
struct Comparison {
  private var fileCount = 0
  /// The number of files that the parser finds an error in.
  private var brokenCount = 0
  private var differenceCount = 0
  private var counts: [String: Int] = [:]

  static func main() {
    var comparison = Comparison()
    for folder in CommandLine.arguments.dropFirst() {
      for path in files(below: folder) { comparison.read(path) }
    }
    let found = comparison.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print(
      "\(comparison.fileCount) files, \(comparison.brokenCount) of them with errors: \(found); "
        + "\(comparison.differenceCount) differences")
    exit(comparison.differenceCount == 0 && comparison.fileCount > comparison.brokenCount ? 0 : 1)
  }

  private static func files(below folder: String) -> [String] {
    let paths = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
    return paths.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".swiftinterface") }.sorted().map { "\(folder)/\($0)" }
      .filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
      }
  }

  private mutating func tell(_ path: String, _ difference: String) {
    differenceCount += 1
    if differenceCount <= 200 { print("\(path): \(difference)") }
  }

  private mutating func read(_ path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return tell(path, "the file can't be read") }
    fileCount += 1
    let parser = ParserFacts(Array(data))
    // The reader goes as far as it can in a broken file, and may stop.
    guard !parser.hasError else {
      brokenCount += 1
      return
    }
    do throws(SwiftSourceError) {
      let (ours, theirs) = (try ReaderFacts(Array(data)).facts, parser.facts)
      for (kind, count) in theirs.counts { counts[kind, default: 0] += count }
      for line in ours.lines.subtracting(theirs.lines).sorted() { tell(path, "only the reader finds \(line)") }
      for line in theirs.lines.subtracting(ours.lines).sorted() { tell(path, "only the parser finds \(line)") }
    } catch {
      tell(path, "the reader stops in line \(error.line): \(error.reason)")
    }
  }
}
