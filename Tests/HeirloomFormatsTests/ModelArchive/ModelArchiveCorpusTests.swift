import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ModelArchiveCorpusTests {
  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: Corpus.folder.appendingPathComponent(path)))
  }

  /// What an archive may hold that a model value can't: objects of an app's own class as default, nested user info.
  static let knownWarnings: Set<ModelReadingWarning> = [
    ModelReadingWarning(.invalidValue("CoreDataPlus_Tests.Cover", of: "NSDefaultValue"), place: "Book.cover"),
    ModelReadingWarning(.invalidValue("CoreDataPlus_Tests.Cover", of: "NSDefaultValue"), place: "GraphicNovel.cover"),
    ModelReadingWarning(.invalidValue("CoreDataPlus_Tests.Cover", of: "NSDefaultValue"), place: "Book.frontCover"),
    ModelReadingWarning(
      .invalidValue("CoreDataPlus_Tests.Cover", of: "NSDefaultValue"), place: "GraphicNovel.frontCover"),
    ModelReadingWarning(.invalidValue("CoreDataPlus_Tests_macOS.Cover", of: "NSDefaultValue"), place: "Book.cover"),
    ModelReadingWarning(
      .invalidValue("CoreDataPlus_Tests_macOS.Cover", of: "NSDefaultValue"), place: "GraphicNovel.cover"),
    ModelReadingWarning(.unknownKey("enum"), place: "the user info of Cocktail.historicSpec"),
  ]

  @Test func `reads every compiled model and cache of the corpus and understands all of it`() throws {
    var unexpected: Set<String> = []
    #expect(Corpus.compiledModelPaths.count >= 75)
    for path in Corpus.compiledModelPaths {
      do {
        let result = try ModelArchiveReader.read(bytes(path))
        for warning in result.warnings where !Self.knownWarnings.contains(warning) {
          unexpected.insert("\(path): \(warning)")
        }
      } catch {
        unexpected.insert("\(path): \(error)")
      }
    }
    #expect(unexpected.sorted() == [])
  }

  @Test func `compiled models have the hashes that the compiler noted beside them`() throws {
    var hashCount = 0
    for path in Corpus.compiledModelPaths where path.contains(".momd/") {
      let folder = (path as NSString).deletingLastPathComponent
      let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
      let info = try PropertyListValue(contentsOf: bytes(folder + "/VersionInfo.plist"))
      let noted = try #require(info["NSManagedObjectModel_VersionHashes"]?[name]?.dictionaryValue)
      let model = try ModelArchiveReader.read(bytes(path)).model
      let hashes = model.versionHashes().mapValues { PropertyListValue.data($0.bytes) }
      #expect(hashes == noted, "\(path)")
      if let checksum = info["NSManagedObjectModel_VersionChecksums"]?[name]?.stringValue {
        #expect(model.versionChecksum() == checksum, "\(path)")
      }
      hashCount += noted.count
    }
    #expect(hashCount > 60)
  }

  @Test func `source and archive of a version give the same model`() throws {
    var sources: [String: [ManagedObjectModel]] = [:]
    for path in Corpus.modelPaths {
      let model = try ModelSourceReader.read(bytes(path + "/contents")).model
      sources[model.versionChecksum(), default: []].append(model)
    }
    var pairCount = 0
    for path in Corpus.compiledModelPaths {
      let compiled = try ModelArchiveReader.read(bytes(path)).model
      guard let candidates = sources[compiled.versionChecksum()] else { continue }
      pairCount += 1
      // Versions of equal hashes may differ in what is not hashed: one of them must be the compiled one.
      let attempts = candidates.map { self.differences(comparable($0), comparable(compiled)) }
      let smallest = try #require(attempts.min { $0.count < $1.count })
      #expect(smallest == [], "\(path)")
    }
    #expect(pairCount > 40)
  }

  /// The model without what only one of the two forms has, or what apps change at run time.
  private func comparable(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.map { entity in
      var entity = entity
      entity.managedObjectClassName = nil
      entity.codeGenerationType = nil
      entity.indexes.sort { $0.name < $1.name }
      for index in entity.attributes.indices { entity.attributes[index].usesScalarValueType = nil }
      return entity
    }
  }

  private func differences(_ source: [EntityDescription], _ compiled: [EntityDescription]) -> [String] {
    var result: [String] = []
    for (one, other) in zip(source, compiled) where one != other {
      for (a, b) in zip(one.attributes, other.attributes) where a != b { result.append("\(one.name).\(a.name): \(a) <> \(b)") }
      for (a, b) in zip(one.relationships, other.relationships) where a != b { result.append("\(one.name).\(a.name): \(a) <> \(b)") }
      if one.indexes != other.indexes { result.append("\(one.name) indexes \(one.indexes.map(\.name)) \(other.indexes.map(\.name))") }
      if one.uniquenessConstraints != other.uniquenessConstraints { result.append("\(one.name) constraints") }
      if result.isEmpty { result.append("\(one.name)") }
    }
    return result
  }
}
