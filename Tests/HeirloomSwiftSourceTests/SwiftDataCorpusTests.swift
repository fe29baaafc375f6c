import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// A class that a list of the corpus names, and that its declarations lack.
private struct UnknownRoot: Error {
  let name: String
}

/// The version hashes of SwiftData's stores, computed from source alone.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SwiftDataCorpusTests {
  @Test(arguments: SwiftDeclarations.all)
  func `hashes of a schema are those of its store`(_ item: SwiftDeclarations.Case) throws {
    let declarations = try SwiftDeclarations(item.file)
    var source = SwiftDataSource()
    source.add(Array(declarations.source.utf8), path: "Models.swift")
    #expect(source.faults.isEmpty)
    let roots = try declarations.roots.map { name in
      guard case .type(let found)? = source.meaning(of: name.split(separator: ".").map(String.init), in: []) else {
        throw UnknownRoot(name: name)
      }
      return found
    }
    let builder = SwiftDataModelBuilder(of: roots, in: source)
    let hashes = try builder.model().versionHashes()
    var (equal, unknown) = (0, 0)
    for (entity, hash) in item.hashes {
      if builder.uncertainEntities.contains(entity) {
        unknown += 1
        continue
      }
      if hashes[entity]?.description.lowercased() == hash { equal += 1 }
      if !item.isNegative { #expect(hashes[entity]?.description.lowercased() == hash, "\(entity)") }
    }
    print(
      "\(item.file): \(equal) equal, \(unknown) not computable of \(item.hashes.count): \(builder.doubts.map { "\($0.entity).\($0.property ?? ""): \($0.reason)" }.prefix(12))"
    )
    #expect(item.isNegative ? equal == 0 : equal + unknown == item.hashes.count)
    #expect(item.isNegative || equal * 10 >= item.hashes.count * 9)
  }

  @Test func `all lists are there`() {
    #expect(SwiftDeclarations.all.count >= 12 && SwiftDeclarations.all.count(where: \.isNegative) == 1)
  }
}
