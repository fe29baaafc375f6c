import Foundation
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ArchivedValueCorpusTests {
  @Test func `decodes every archived value that apps stored`() throws {
    var classes: [String: Int] = [:]
    for path in Corpus.storePaths where path.contains("coredataplus/stores/SampleModel2") {
      try Corpus.withCopy(of: path) { url in
        let connection = try Connection(path: url.path, mode: .readWrite)
        for table in ["ZBOOK", "ZPAGE"] {
          for row in try connection.rows("SELECT * FROM \(table)") {
            for case .blob(let bytes) in row where bytes.starts(with: "bplist00".utf8) {
              guard case .object(let name, let members) = try ArchivedValue(decoding: bytes) else {
                Issue.record("an archive in \(table) holds no object")
                continue
              }
              #expect(!members.isEmpty)
              classes[name, default: 0] += 1
            }
          }
        }
        try connection.close()
      }
    }
    // These transformable attributes have classes of the test app.
    #expect(classes == ["Content": 10_059, "CoreDataPlus_Tests.Cover": 55, "CoreDataPlus_Tests_macOS.Cover": 52])
  }
}
