import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing

/// The hashes computed from the models of the corpus, compared with those that Core Data wrote.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusHashTests {
  @Test func `hashes, digests and checksums of every store with a model cache are Core Data's`() throws {
    var entities = (right: 0, total: 0)
    var digests = (right: 0, total: 0)
    var checksums = (right: 0, total: 0)
    var stores = 0
    for path in Corpus.storePaths {
      try Corpus.withCopy(of: path) { url in
        let metadata = try StoreMetadata(contentsOf: url)
        guard let model = try StoreModelCache.model(inStoreAt: url) else { return }
        stores += 1
        let hashes = model.versionHashes()
        entities.total += metadata.versionHashes.count
        entities.right += metadata.versionHashes.filter { hashes[$0.key] == $0.value }.count
        if let digest = metadata.versionHashesDigest {
          digests.total += 1
          digests.right += digest == ManagedObjectModel.versionHashesDigest(of: hashes) ? 1 : 0
        }
        if let checksum = metadata.versionChecksum {
          checksums.total += 1
          checksums.right += checksum == model.versionChecksum() ? 1 : 0
        }
      }
    }
    print("stores with a model cache: \(stores) of \(Corpus.storePaths.count)")
    print("entity hashes: \(entities.right) of \(entities.total)")
    print("digests: \(digests.right) of \(digests.total), checksums: \(checksums.right) of \(checksums.total)")
    #expect(stores == 56)
    #expect(entities == (496, 496))
    #expect(digests.right == digests.total && digests.total > 0)
    #expect(checksums.right == checksums.total && checksums.total > 0)
  }

  @Test func `the tutorial's model has the hash that the tutorial prints`() throws {
    let model = try Corpus.model("Done", in: "tutsplus-done")
    #expect(
      model.versionHashes()["Item"]?.description == "4c8802263219fc66283b28c554f026dc7f95af5fc19fb76e255a26a72a2a79f5")
  }

  /// Takes the stores whose own version is among the models in XML, by the notes of the corpus.
  @Test func `a version in XML gives the hashes of the stores it made`() throws {
    var found = 0
    var known: [String: [[String: VersionHash]]] = [:]
    let projects = Set(Corpus.storePaths.map { $0.prefix { $0 != "/" } })
    for path in Corpus.modelPaths where projects.contains(path.prefix { $0 != "/" }) {
      guard let model = try? Corpus.model(at: Corpus.folder.appendingPathComponent(path).path) else { continue }
      known[String(path.prefix { $0 != "/" }), default: []].append(model.versionHashes())
    }
    var missing: [String] = []
    for path in Corpus.storePaths {
      let hashes = try Corpus.withCopy(of: path) { try StoreMetadata(contentsOf: $0).versionHashes }
      if known[String(path.prefix { $0 != "/" })]?.contains(hashes) == true { found += 1 } else { missing.append(path) }
    }
    print("stores whose version is there in XML: \(found) of \(Corpus.storePaths.count); without: \(missing)")
    #expect(found >= 40)
  }
}
