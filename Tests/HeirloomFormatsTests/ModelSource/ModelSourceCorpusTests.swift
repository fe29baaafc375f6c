import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ModelSourceCorpusTests {
  @Test func `reads every model source of the corpus and understands all of it`() throws {
    var entityCount = 0
    var unexpected: Set<String> = []
    for path in Corpus.modelPaths {
      let file = Corpus.folder.appendingPathComponent(path).appendingPathComponent("contents")
      do {
        let result = try ModelSourceReader.read(Array(Data(contentsOf: file)))
        entityCount += result.model.entities.count
        for warning in result.warnings { unexpected.insert("\(path): \(warning)") }
      } catch {
        unexpected.insert("\(path): \(error)")
      }
    }
    #expect(unexpected.sorted() == [])
    #expect(entityCount > 12_000)
  }
}
