import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ModelSourceCorpusTests {
  /// The interval at which snapshots are read: unoptimised code takes half a minute for all, so it reads every fourth.
  private static let snapshotStride: Int = {
    #if DEBUG
      4
    #else
      1
    #endif
  }()

  @Test func `reads every model source of the corpus and keeps all of it in a snapshot`() throws {
    var entityCount = 0
    var unexpected: Set<String> = []
    let paths = LongTests.selection(of: Corpus.modelPaths, every: 3)
    for (index, path) in paths.enumerated() {
      let file = Corpus.folder.appendingPathComponent(path).appendingPathComponent("contents")
      do {
        let result = try ModelSourceReader.read(Array(Data(contentsOf: file)))
        entityCount += result.model.entities.count
        for warning in result.warnings { unexpected.insert("\(path): \(warning)") }
        guard index.isMultiple(of: Self.snapshotStride) else { continue }
        let snapshot = ModelSnapshot(model: result.model)
        let bytes = try snapshot.bytes(entityCount.isMultiple(of: 2) ? .readable : .compressed)
        if try ModelSnapshot(bytes: bytes) != snapshot { unexpected.insert("\(path): the snapshot differs") }
        if !ModelSnapshot.file(bytes, holds: result.model) { unexpected.insert("\(path): the content differs") }
      } catch {
        unexpected.insert("\(path): \(error)")
      }
    }
    #expect(unexpected.sorted() == [])
    #expect(entityCount > (LongTests.areOn ? 12_000 : 3000))
  }
}
