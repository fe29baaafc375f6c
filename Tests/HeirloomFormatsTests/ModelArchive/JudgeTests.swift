import Foundation
import HeirloomFormats
import HeirloomModel
import Testing

struct JudgeTests {
  struct Entry: Decodable { var store: String; var hashes: [String: String] }
  @Test func judge() throws {
    let entries = try JSONDecoder().decode([String: Entry].self, from: Data(contentsOf: URL(fileURLWithPath: "/tmp/fstores/hashes.json")))
    var right = 0, wrong = 0
    for (file, entry) in entries.sorted(by: { $0.key < $1.key }) {
      do {
        let read = try ModelArchiveReader.readCache(Array(Data(contentsOf: URL(fileURLWithPath: file))))
        for w in read.warnings { print("WARN", entry.store, w) }
        let hashes = read.model.versionHashes().mapValues(\.description)
        for (name, hash) in entry.hashes { if hashes[name] == hash { right += 1 } else { wrong += 1; print("WRONG", entry.store, name) } }
        if Set(hashes.keys) != Set(entry.hashes.keys) { print("KEYS", entry.store) }
      } catch { print("ERR", entry.store, error) }
    }
    print("RIGHT", right, "WRONG", wrong)
  }
}
