import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Hashes that Core Data made and printed.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct HashCorpusTests {
  private static let bundles = Dictionary(grouping: Corpus.modelPaths) { ($0 as NSString).deletingLastPathComponent }
    .filter { $0.key.hasSuffix(".xcdatamodeld") && $0.value.count > 1 && !$0.key.contains("magicalrecord") }.keys
    .sorted()

  private static func versions(_ outcome: Tool.Outcome) throws -> [[String]] {
    let places = try #require(try outcome.json()["hashes"] as? [[String: Any]])
    return places.map { place in
      (place["versions"] as? [[String: Any]] ?? []).compactMap {
        $0["configuration"] is String ? nil : $0["versionName"] as? String
      }
      .sorted()
    }
  }

  private static func find(_ texts: [String], in bundle: String) throws -> [[String]] {
    let directory = try TemporaryDirectory()
    let log = directory.file("log.txt")
    try Data(texts.joined(separator: "\n\n").utf8).write(to: log)
    let path = Corpus.folder.appendingPathComponent(bundle).path
    return try versions(Tool(directory: directory.url)("inspect", path, "--from-log", log.path, "--json"))
  }

  /// The dialects that say where a store's hashes end, and show some bytes.
  private static let dialects = HashDialect.all.filter { $0.isWhole && $0.shown.start > 0 }

  /// Those whose versions are read in a second.
  private static let shortBundles = bundles.filter { !$0.contains("woocommerce") && !$0.contains("threema") }

  @Test(.slow("long histories"), arguments: LongTests.areOn ? bundles : shortBundles)
  func `of every history and in every dialect, exactly the versions with the hashes are named`(_ bundle: String) throws
  {
    let all = try Corpus.versions(of: bundle)
    let sets = Set(all.map(\.hashes)).filter { !$0.isEmpty }.sorted { $0.description < $1.description }.prefix(99)
    // A quick run takes three dialects for each history, and one for a long one.
    let start = Self.bundles.firstIndex(of: bundle) ?? 0
    let dialects = Self.dialects.indices.map { Self.dialects[($0 + start) % Self.dialects.count] }
    for dialect in LongTests.selection(of: dialects, every: all.count > 30 ? dialects.count : dialects.count / 3) {
      let texts = sets.map { dialect.print(PrintedHashes(hashes: $0.mapValues(\.bytes))) }
      let expected = sets.map { hashes in all.filter { $0.hashes == hashes }.map(\.name).sorted() }
      let found = try Self.find(texts, in: bundle)
      #expect(found == expected, "\(dialect.name)")
    }
  }

  @Test(arguments: shortBundles.filter { !$0.contains("models/zmessaging") })
  func `where one byte differs, a version with that difference alone is named`(_ bundle: String) throws {
    let all = try Corpus.versions(of: bundle)
    let dialect = HashDialect.all[1]
    for version in LongTests.selection(of: all, every: max(1, all.count / 4)) where !version.hashes.isEmpty {
      let entity = version.hashes.keys.sorted()[version.hashes.count / 2]
      var bytes = version.hashes.mapValues(\.bytes)
      bytes[entity]?[5] ^= 0x40
      let directory = try TemporaryDirectory()
      let log = directory.file("log.txt")
      try Data(dialect.print(PrintedHashes(hashes: bytes)).utf8).write(to: log)
      let path = Corpus.folder.appendingPathComponent(bundle).path
      let outcome = Tool(directory: directory.url)("inspect", path, "--from-log", log.path, "--json")
      #expect(outcome.code == 5)
      let place = try #require((try outcome.json()["hashes"] as? [[String: Any]])?.first)
      guard version.hashes.count > 1 else { continue }
      let nearest = try #require((place["nearest"] as? [[String: Any]])?.first?["versionName"] as? String)
      let others = { (hashes: [String: VersionHash]) in hashes.filter { $0.key != entity } }
      let equal = all.filter { others($0.hashes) == others(version.hashes) && $0.hashes.count == version.hashes.count }
      #expect(equal.map(\.name).contains(nearest), "\(version.name): \(nearest)")
      let differences = try #require(place["differences"] as? [[String: Any]])
      #expect(differences.map { $0["entity"] as? String } == [entity], "\(version.name)")
    }
  }

  @Test func `versions are found by the hashes that Xcode wrote beside compiled models`() throws {
    var count = 0
    for path in Set(Corpus.compiledModelPaths.map { ($0 as NSString).deletingLastPathComponent }).sorted() {
      let file = Corpus.folder.appendingPathComponent(path + "/VersionInfo.plist")
      guard let data = try? Data(contentsOf: file) else { continue }
      let info = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
      let versions = try #require(info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
      let sets = Set(versions.values).filter { !$0.isEmpty }.sorted {
        "\($0.mapValues(\.hashValue))" < "\($1.mapValues(\.hashValue))"
      }
      for dialect in Self.dialects {
        let texts = sets.map { dialect.print(PrintedHashes(hashes: $0.mapValues { Array($0) })) }
        let expected = sets.map { set in versions.filter { $0.value == set }.keys.sorted() }
        #expect(try Self.find(texts, in: path) == expected, "\(path) \(dialect.name)")
        count += texts.count
      }
    }
    #expect(count > 200)
  }

  @Test func `the metadata of stores name the compiled models that made them`() throws {
    var count = 0
    for project in try FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path).sorted() {
      let file = Corpus.folder.appendingPathComponent("\(project)/FACTS.json")
      guard let data = try? Data(contentsOf: file),
        let facts = try JSONSerialization.jsonObject(with: data) as? [String: Any]
      else { continue }
      for store in facts["stores"] as? [[String: Any]] ?? [] {
        let compiled = store["compiled_model_with_equal_hashes"] as? [String] ?? []
        guard !compiled.isEmpty, let path = store["path"] as? String, Corpus.storePaths.contains("\(project)/\(path)")
        else { continue }
        let text = try Self.log(ofStore: "\(project)/\(path)")
        for model in compiled {
          let found = try Self.find([text], in: "\(project)/\((model as NSString).deletingLastPathComponent)")
          #expect(found.first?.contains((model as NSString).lastPathComponent) == true, "\(path) \(model): \(found)")
          count += 1
        }
      }
    }
    #expect(count > 10)
  }

  /// The error that Core Data prints of a store, from the property list in it.
  private static func log(ofStore path: String) throws -> String {
    try Corpus.withCopy(of: path) { url in
      let connection = try Connection(reading: url, options: .inspecting)
      let bytes = try #require(try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob)
      let metadata = try #require(
        try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
      var printed = PrintedHashes(
        hashes: try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data]).mapValues { Array($0) })
      printed.identifiers = metadata["NSStoreModelVersionIdentifiers"] as? [String] ?? []
      printed.digest = metadata["NSStoreModelVersionHashesDigest"] as? String
      printed.checksum = metadata["NSStoreModelVersionChecksumKey"] as? String
      return HashDialect.all[1].print(printed)
    }
  }

  // MARK: Logs as people pasted them

  @Test func `a library that an early OpenEmu left is of version 1.1, as its log says`() throws {
    let text = """
      2016-02-12 21:13:32.873 OpenEmu[1067:83737] CoreData: error: -addPersistentStoreWithType:SQLite configuration:(null) URL:file:///Library.storedata options:{
          NSInferMappingModelAutomaticallyOption = 0;
          NSMigratePersistentStoresAutomaticallyOption = 0;
      } ... returned error Error Domain=NSCocoaErrorDomain Code=134100 "The managed object model version used to open the persistent store is incompatible with the one that was used to create the persistent store." UserInfo={metadata={
          NSPersistenceFrameworkVersion = 641;
          NSStoreModelVersionHashes =     {
              AbstractCollection = <2dfadfde 9f70b27e 16f7b6de 72310bdf 0c52bafe 3bba15ea 509e7dcc eeb8d43a>;
              Collection = <8910c83c cf414724 f6a2bbcb 597f384c c2905c19 a17d09ba de6ec5db 30a757c4>;
              CollectionFolder = <c4dd68ab e96e31fe 321efa43 240bc442 9dd93d11 dd4c51f7 ba6f3f61 e5285d4d>;
              Contributor = <18b1a514 f9441a8e 52084fb8 2af99d1a a4b849f2 4bebf26e 502687c1 85719de4>;
              Credit = <ab0a5381 9c2743ee b749c5cc ec46059e f8234412 51964008 b6f2f8ad 66495539>;
              Game = <6564305f 14ca264e 3a9b8387 1b02fea5 2bf7be49 064561e5 354fe33b 34987388>;
              Genre = <1b01e77d cd8c4d47 f35932db 5eb7a782 ac398147 94520d44 249062cc a2d2a093>;
              Image = <5b6f7286 8e63cf1b a62120dd 0780c3f0 ac3191de b8138b9a 5139599b b31e8489>;
              ImageThumbnail = <c8ab373b e3229404 41ef07fd 9e58a56a 27d33010 98a2c360 2df5f827 c1bbf066>;
              ROM = <846db22f 54b7faf0 9722ac87 fa3242b2 453c2e99 aa0b3f99 56ad0620 6dc1af2e>;
              SaveState = <4c7b3c71 93eca214 2173588a 4829ffdb 7acc387d 787e488d 4d53bea6 585c3a34>;
              SmartCollection = <6b5924ca e02bf6f6 d8a1204f 5aa2f5e9 9cce66c9 ebddfd14 96faf8dd 4c804ed7>;
              System = <f17fee71 2a779438 bed9e987 82e0ae6b 602f3f47 8e18f18f 51070c70 a1c20228>;
          };
          NSStoreModelVersionHashesVersion = 3;
          NSStoreModelVersionIdentifiers =     (
              "1.0"
          );
          NSStoreType = SQLite;
          "_NSAutoVacuumLevel" = 2;
      }, reason=The model used to open the store is incompatible with the one used to create the store}
      """
    let bundle = "openemu/models/OEDatabase.xcdatamodeld"
    #expect(try Self.find([text], in: bundle) == [["OEDatabase 1.1"]])
    // Without the last of them, the version before has them too.
    let cut = text.components(separatedBy: "        ROM =")[0]
    #expect(try Self.find([cut], in: bundle) == [["OEDatabase 1.0", "OEDatabase 1.1"]])
  }

  @Test func `a log that begins in the middle has the hashes of some versions, and the digest of none`() throws {
    let text = """
              TopEarnerStatsItem = {length = 32, bytes = 0xca135b07 32502646 731726a9 a7cc8160 ... d455e792 125daa74 };
              WCPayCardPaymentDetails = {length = 32, bytes = 0xeb984ccb a49c545a 4ef04d28 22dde4d4 ... 8beaf993 45c11cfa };
              WCPayCardPresentPaymentDetails = {length = 32, bytes = 0xe840c392 ff640c67 599691c2 8b8fc3c8 ... a3c2cf93 a5f5e965 };
              WCPayCardPresentReceiptDetails = {length = 32, bytes = 0x325563fa 3f36bbaa 3186a4d5 dfba98ae ... fd0d9648 7743fe26 };
              WCPayCharge = {length = 32, bytes = 0x24080cd3 5a3c0f9a e8cb4294 7d038207 ... 43ae6546 e7b6be56 };
          };
          NSStoreModelVersionHashesDigest = "eksQQJvr4ot6BbDjnj53JED+iSZ3NLpa0Xxe1UiZIGIbu1khqZzy9fEYpNyaX4dhKYWpU+RQzqi6Yq+w3SabEw==";
          NSStoreModelVersionHashesVersion = 3;
          NSStoreModelVersionIdentifiers =     (
              ""
          );
          NSStoreType = SQLite;
      }
      2023-04-04 18:00:09.435082+0100 WooCommerce[55139:20316810] [error] error: \treason : The model used to open the store is incompatible with the one used to create the store
      """
    let bundle = "woocommerce-ios/models/WooCommerce.xcdatamodeld"
    #expect(try Self.find([text], in: bundle) == [[]])
    let without = text.replacing(/.*Digest.*\n/, with: "")
    let found = try #require(try Self.find([without], in: bundle).first)
    #expect(found.contains("Model 80") && !found.contains("Model 20"), "\(found)")
  }
}
