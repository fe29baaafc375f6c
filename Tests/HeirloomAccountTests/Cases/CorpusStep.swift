import Heirloom
import TestSupport
import Testing

/// A version of a real app and a later one, for a store made for it or one that came with it.
struct CorpusStep: CustomTestStringConvertible, Sendable {
  /// The path in the corpus; `nil` for a store that is made.
  let store: String?
  let bundle: String
  let source: Corpus.Version
  let destination: Corpus.Version

  var testDescription: String { "\(store ?? bundle): \(source.name) to \(destination.name)" }

  /// A snapshot in a folder named after its commit repeats the versions of the newest one.
  private static let bundles: [String] = Set(
    Corpus.modelPaths.filter { $0.contains(".xcdatamodeld/") && !$0.contains("@") }
      .map { String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)]) }
  ).sorted()

  static let consecutive: [CorpusStep] = bundles.flatMap { bundle -> [CorpusStep] in
    let versions = (try? Corpus.versions(of: bundle)) ?? []
    return zip(versions, versions.dropFirst()).filter { $0.hashes != $1.hashes }
      .map { CorpusStep(store: nil, bundle: bundle, source: $0, destination: $1) }
  }

  /// Each store with the next version that differs, and with the last.
  static let real: [CorpusStep] = bundles.flatMap { bundle -> [CorpusStep] in
    let versions = (try? Corpus.versions(of: bundle)) ?? []
    let project = bundle.prefix { $0 != "/" } + "/"
    return Corpus.storePaths.filter { $0.hasPrefix(project) }.flatMap { store -> [CorpusStep] in
      guard let stored = try? Corpus.versionHashes(ofStore: store),
        let start = versions.lastIndex(where: { $0.hashes == stored })
      else { return [] }
      let later = versions[(start + 1)...].filter { $0.hashes != stored }
      let ends = later.count > 1 ? [later.first, later.last] : [later.first]
      return ends.compactMap { $0 }.map {
        CorpusStep(store: store, bundle: bundle, source: versions[start], destination: $0)
      }
    }
  }
}
