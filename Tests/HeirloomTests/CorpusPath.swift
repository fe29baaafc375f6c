import Heirloom
import TestSupport
import Testing

/// A store of the corpus with the versions of its history, of which some are later than the store.
struct CorpusPath: CustomTestStringConvertible, Sendable {
  let store: String
  let versions: [Corpus.Version]
  /// The place of the store's version; the last of the places if it was shipped again under a later name.
  let start: Int
  let next: Int
  let last: Int

  var testDescription: String { "\(store) to \(versions[last].name)" }

  /// The earlier versions are known as if their files were beside it.
  func history(to place: Int) -> ModelHistory {
    ModelHistory(current: versions[place].model, name: versions[place].name)
      .adding(versions[..<place].map { (name: $0.name, model: $0.model) })
  }

  /// A quick run takes a few of them.
  func hops(from place: Int) -> [ManagedObjectModel] {
    if LongTests.areOn { return versions[place...last].map(\.model) }
    return Set([start, next, (next + last) / 2, last]).sorted().filter { $0 >= place }.map { versions[$0].model }
  }

  /// Every store of the corpus that can be migrated, project by project.
  static let all: [CorpusPath] = Corpus.isPresent ? (try? readAll()) ?? [] : []

  /// The paths of a long or quick run: some of each project, and those on which join tables get other names.
  static let selected: [CorpusPath] = {
    let projects = Dictionary(grouping: all, by: \.project).sorted { $0.key < $1.key }.map(\.value)
    return projects.flatMap { paths in
      let few = LongTests.selection(of: Array(paths.indices), every: 5)
      return paths.indices.filter { few.contains($0) || paths[$0].hasOtherJoinNames }.map { paths[$0] }
    }
  }()

  /// True for stores with tables of links that other names are tried with.
  var hasOtherJoinNames: Bool {
    ["1-25", "2-53-0", "2-82-0", "2-95-0", "2-21-1"].contains { store.contains("/store\($0).") }
  }

  var project: Substring { store.prefix { $0 != "/" } }

  private static func readAll() throws -> [CorpusPath] {
    // A snapshot in the repository, whose folder has its commit in its name, repeats the versions of the newest one.
    let bundles = Set(
      Corpus.modelPaths.filter { $0.contains(".xcdatamodeld/") && !$0.contains("@") }.map {
        String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)])
      })
    return try bundles.sorted().flatMap { bundle in
      let project = bundle.prefix { $0 != "/" } + "/"
      return try Corpus.storePaths.filter { $0.hasPrefix(project) }.compactMap { store -> CorpusPath? in
        let (versions, stored) = (try Corpus.versions(of: bundle), try Corpus.versionHashes(ofStore: store))
        guard let start = versions.lastIndex(where: { $0.hashes == stored }) else { return nil }
        let later = versions.indices.filter { $0 > start && versions[$0].hashes != stored }
        guard let next = later.first, let last = later.last else { return nil }
        return CorpusPath(store: store, versions: versions, start: start, next: next, last: last)
      }
    }
  }
}
