package import Foundation
package import Testing

/// The stores and models of real apps that the tests are checked against.
///
/// They are third-party data and not part of the repository: they are in `../shared/corpus` beside the checkout, or in
/// the folder that `HEIRLOOM_CORPUS` names. `.enabled(if: Corpus.isPresent, Corpus.absence)` enables suites that need
/// them.
package enum Corpus {
  package static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["HEIRLOOM_CORPUS"] { return URL(fileURLWithPath: path) }
    // Tests/TestSupport/Corpus.swift is three levels below the checkout.
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return checkout.deletingLastPathComponent().appendingPathComponent("shared/corpus")
  }()

  package static let isPresent: Bool = FileManager.default.fileExists(atPath: folder.path)

  package static let absence: Comment =
    "the corpus of real stores is absent: put it in ../shared/corpus or name it in HEIRLOOM_CORPUS"

  /// These paths and those below are relative to ``folder`` and sorted.
  package static let storePaths: [String] = files { path in
    path.contains("/stores/")
      && ["sqlite", "wiredatabase", "moody", "store"].contains((path as NSString).pathExtension)
  }

  /// Folders named `….xcdatamodel` that hold `contents`.
  package static let modelPaths: [String] = files { $0.hasSuffix(".xcdatamodel/contents") }.map {
    ($0 as NSString).deletingLastPathComponent
  }

  package static let compiledModelPaths: [String] = files { $0.hasSuffix(".mom") }

  /// Folders named `….xcmappingmodel`, and files `….cdm`.
  package static let mappingPaths: [String] = files {
    $0.hasSuffix(".xcmappingmodel/xcmapping.xml") || $0.hasSuffix(".cdm")
  }
  .map { $0.hasSuffix(".cdm") ? $0 : ($0 as NSString).deletingLastPathComponent }

  /// Copies a store with its side files, but without its support folder, so that a test may change
  /// it.
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

  /// The copy is in a folder of its own, which is removed afterwards.
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
