import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct CorpusStore {
  /// The stores whose model is known: all but the one of 2010, which has no model cache and a model in an old format.
  static let paths: [String] = Corpus.storePaths.filter { !$0.hasPrefix("magicalrecord") }

  let path: String
  let url: URL
  let connection: Connection
  let model: ManagedObjectModel
  let frameworkVersion: Int64
  private let directory: TemporaryDirectory

  init(_ path: String) throws {
    self.path = path
    directory = try TemporaryDirectory()
    url = try Corpus.copyStore(path, to: directory)
    connection = try Connection(reading: url, options: .inspecting)
    let bytes = try #require(try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob)
    let plist = try BinaryPropertyListReader(bytes).value()
    frameworkVersion = plist["NSPersistenceFrameworkVersion"]?.integerValue ?? 0
    let cache = try #require(try connection.firstValue("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob)
    model = try ModelArchiveReader.readCache(cache).model
  }
}
