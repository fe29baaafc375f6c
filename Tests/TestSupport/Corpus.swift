package import Foundation
package import Testing

/// The stores and models of real apps that the tests are checked against.
///
/// They are third-party data and not part of the repository: they are in `../shared/corpus` beside the checkout, or in
/// the folder that `HEIRLOOM_CORPUS` names. `.enabled(if: Corpus.isPresent, Corpus.absence)` enables suites that need
/// them.
package enum Corpus {
  /// The folder of the corpus.
  package static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["HEIRLOOM_CORPUS"] { return URL(fileURLWithPath: path) }
    // Tests/TestSupport/Corpus.swift is three levels below the checkout.
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return checkout.deletingLastPathComponent().appendingPathComponent("shared/corpus")
  }()

  /// True when the corpus is there.
  package static let isPresent: Bool = FileManager.default.fileExists(atPath: folder.path)

  /// The comment of a skipped suite.
  package static let absence: Comment =
    "the corpus of real stores is absent: put it in ../shared/corpus or name it in HEIRLOOM_CORPUS"

  /// The paths of all stores, relative to the corpus, sorted.
  package static let storePaths: [String] = files { path in
    path.contains("/stores/")
      && ["sqlite", "wiredatabase", "moody", "store"].contains((path as NSString).pathExtension)
  }

  /// The paths of all model versions in XML, relative to the corpus, sorted.
  ///
  /// They are folders named `….xcdatamodel` that hold `contents`.
  package static let modelPaths: [String] = files { $0.hasSuffix(".xcdatamodel/contents") }.map {
    ($0 as NSString).deletingLastPathComponent
  }

  /// The paths of all compiled models, relative to the corpus, sorted.
  package static let compiledModelPaths: [String] = files { $0.hasSuffix(".mom") }

  /// The paths of all mapping models, relative to the corpus, sorted: folders named `….xcmappingmodel` and files `….cdm`.
  package static let mappingPaths: [String] = files {
    $0.hasSuffix(".xcmappingmodel/xcmapping.xml") || $0.hasSuffix(".cdm")
  }
  .map { $0.hasSuffix(".cdm") ? $0 : ($0 as NSString).deletingLastPathComponent }

  /// Copies a store with its side files and support folder into a folder, so that a test may change it.
  ///
  /// - Parameters:
  ///   - path: The store's path, relative to ``folder``.
  ///   - directory: The folder that receives the copy.
  ///   - subfolder: The name of a folder in it that is made for the copy; the copy is in the folder itself without one.
  /// - Returns: The copy's location.
  /// - Throws: Foundation's error when a file can't be read or written.
  package static func copyStore(
    _ path: String, to directory: TemporaryDirectory, in subfolder: String? = nil
  ) throws -> URL {
    let source = folder.appendingPathComponent(path)
    let parent = subfolder.map { directory.file($0) } ?? directory.url
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    let destination = parent.appendingPathComponent(source.lastPathComponent)
    for suffix in ["", "-wal", "-shm", "-journal"]
    where FileManager.default.fileExists(atPath: source.path + suffix) {
      try Data(contentsOf: URL(fileURLWithPath: source.path + suffix))
        .write(to: URL(fileURLWithPath: destination.path + suffix))
    }
    return destination
  }

  /// Runs a body on a copy of a store in a folder of its own, which is removed afterwards.
  ///
  /// - Parameters:
  ///   - path: The store's path, relative to ``folder``.
  ///   - body: A closure that takes the copy's location.
  /// - Returns: The body's result.
  /// - Throws: Foundation's error when a file can't be copied, or the body's.
  package static func withCopy<Value>(of path: String, _ body: (URL) throws -> Value) throws -> Value {
    let directory = try TemporaryDirectory()
    let url = try copyStore(path, to: directory)
    // Without this, the folder would go with its last use, before the body is done.
    return try withExtendedLifetime(directory) { try body(url) }
  }

  private static func files(where matches: (String) -> Bool) -> [String] {
    guard let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return [] }
    var paths: [String] = []
    for case let path as String in enumerator where matches(path) { paths.append(path) }
    return paths.sorted()
  }
}
