import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct MetadataCorpusTests {
  private static let suffixes = ["", "-wal"]

  private func contents(_ url: URL) -> [Data?] {
    Self.suffixes.map { try? Data(contentsOf: URL(fileURLWithPath: url.path + $0)) }
  }

  @Test(arguments: Corpus.storePaths)
  func `metadata of every real store are read and nothing is written`(path: String) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(path, to: directory)
    let before = contents(url)
    let metadata = try StoreMetadata(contentsOf: url)
    #expect(contents(url).map { $0 ?? Data() } == before.map { $0 ?? Data() })
    #expect(UUID(uuidString: metadata.identifier) != nil)
    #expect(!metadata.versionHashes.isEmpty)
    #expect(metadata.frameworkVersion > 0)
    #expect(metadata.otherValues["NSStoreType"] == .string("SQLite"))
    #expect(metadata.generation == nil)
    // The digest and the checksum follow from the hashes.
    if let digest = metadata.versionHashesDigest {
      #expect(digest == ManagedObjectModel.versionHashesDigest(of: metadata.versionHashes))
    }
    if let checksum = metadata.versionChecksum {
      #expect(checksum == ManagedObjectModel.versionChecksum(of: metadata.versionHashes))
    }
    let list = try metadata.propertyList()
    #expect(try StoreMetadata(propertyList: list, identifier: metadata.identifier, path: "") == metadata)
  }

  @Test(arguments: CorpusStore.paths)
  func `the model in a store's cache is the one that made it`(path: String) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(path, to: directory)
    let before = contents(url)
    let model = try #require(try StoreModelCache.model(inStoreAt: url))
    #expect(contents(url).map { $0 ?? Data() } == before.map { $0 ?? Data() })
    let metadata = try StoreMetadata(contentsOf: url)
    #expect(metadata.isCompatible(with: model))
    #expect(StoreMetadata(model: model, identifier: metadata.identifier).versionHashes == metadata.versionHashes)
  }

  @Test func `a store without a cache has none`() throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(
      try #require(Corpus.storePaths.first { $0.hasPrefix("magicalrecord") }), to: directory)
    #expect(try StoreModelCache.model(inStoreAt: url) == nil)
  }

  @Test func `a store that lost its end is never taken for a whole one`() throws {
    let path = try #require(Corpus.storePaths.first { $0.hasSuffix("CoreDataMigration_Example_1.sqlite") })
    let directory = try TemporaryDirectory()
    let whole = try Data(contentsOf: try Corpus.copyStore(path, to: directory))
    let file = directory.file("Cut.sqlite")
    for length in stride(from: 512, to: whole.count, by: 512) + [1, 15, 99, 100, whole.count - 1] {
      try whole.prefix(length).write(to: file)
      #expect(throws: StoreError.self) { try StoreMetadata(contentsOf: file) }
      #expect(try Data(contentsOf: file) == whole.prefix(length))
    }
  }
}
