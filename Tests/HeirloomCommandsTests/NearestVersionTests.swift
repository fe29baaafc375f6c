import Foundation
import Heirloom
import TestSupport
import Testing

/// The version that is named as the nearest to a store whose metadata have the hashes of none.
struct NearestVersionTests {
  private static let models = "duckduckgo-bsk/models/BookmarksModel.xcdatamodeld"

  private static func flipHashes(of url: URL) throws {
    let connection = try Connection(path: url.path, mode: .readWrite)
    let bytes = try #require(try connection.rows("SELECT Z_PLIST FROM Z_METADATA").first?[0].blob)
    var metadata = try #require(
      try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
    let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
    metadata["NSStoreModelVersionHashes"] = hashes.mapValues { Data([$0[0] ^ 1]) + $0.dropFirst() }
    let flipped = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    try connection.execute("UPDATE Z_METADATA SET Z_PLIST = x'\(flipped.map { String(format: "%02x", $0) }.joined())'")
    try connection.close()
  }

  // Core Data made each store with the version of its number. The first two have the same columns: the later is named.
  @Test(.enabled(if: Corpus.isPresent, Corpus.absence), arguments: 1...5)
  func `of versions with equally many other hashes, all commands name the one with the store's columns`(
    number: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore("duckduckgo-bsk/stores/Bookmarks_V\(number).sqlite", to: directory)
    let bundle = Corpus.folder.appendingPathComponent(Self.models).path
    let tool = Tool(directory: directory.url)
    try Self.flipHashes(of: url)
    let name = "BookmarksModel \(max(number, 2))"

    let verified = tool("verify", url.path, "--model", bundle)
    #expect(verified.output.contains("compared with the model \(name) (it does not fit)"), "\(verified.output)")
    let diagnosis = tool("doctor", url.path, "--model", bundle)
    #expect(diagnosis.output.contains("compared with the nearest, the model \(name)."), "\(diagnosis.output)")
    let plan = tool("plan", url.path, "--to", bundle)
    #expect(plan.code != 0 && plan.error.contains("the nearest known version is \"\(name)\""), "\(plan.error)")
    let output = directory.file("Salvaged.sqlite").path
    let salvage = tool("salvage", url.path, "--model", bundle, "--output", output)
    #expect(salvage.output.contains("read with the model \(name)."), "\(salvage.output)")
    // The new store is one of that version, and the next release migrates it.
    let migrated = tool("migrate", output, "--to", bundle, "--accept-losses")
    #expect(migrated.code == 0, "\(migrated.error)")
  }
}
