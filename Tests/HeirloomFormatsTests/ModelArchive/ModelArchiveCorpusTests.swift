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

  /// The contents of an archive that a model value can't have: defaults of an app's own class, nested user info.
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
        let snapshot = ModelSnapshot(model: result.model)
        if try ModelSnapshot(bytes: snapshot.bytes(.readable)) != snapshot {
          unexpected.insert("\(path): the snapshot differs")
        }
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
    let projects = Set(Corpus.compiledModelPaths.compactMap { $0.split(separator: "/").first })
    for path in Corpus.modelPaths where path.split(separator: "/").first.map(projects.contains) == true {
      let model = try ModelSourceReader.read(bytes(path + "/contents")).model
      sources[model.versionChecksum(), default: []].append(model)
    }
    var pairCount = 0
    for path in Corpus.compiledModelPaths {
      let compiled = try ModelArchiveReader.read(bytes(path)).model
      guard let candidates = sources[compiled.versionChecksum()], !Self.editedModels.contains(path) else { continue }
      pairCount += 1
      // Versions of equal hashes may differ in unhashed content: one of them must be the compiled one.
      let attempts = candidates.map { self.differences(comparable($0), comparable(compiled)) }
      let smallest = try #require(attempts.min { $0.count < $1.count })
      #expect(smallest == [], "\(path)")
    }
    #expect(pairCount >= 60)
  }

  @Test func `survives damaged archives`() throws {
    let path = try #require(Corpus.compiledModelPaths.first { $0.hasSuffix("SampleModel3_v2.mom") })
    let whole = try bytes(path)
    var generator = SplitMix(state: 7)
    var refused = 0
    for _ in 0..<1500 {
      var bytes = whole
      for _ in 0...generator.next() % 3 {
        bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
      }
      if (try? ModelArchiveReader.read(bytes)) == nil { refused += 1 }
    }
    // It only matters that none trapped or hung; most damage is noticed.
    #expect(refused > 300)
  }

  /// Equal on each run.
  private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }

  /// Models whose sources were edited before or after they were compiled.
  static let editedModels: Set<String> = ["coredataplus/compiled/@25ef1d72/_SampleModel.momd/SampleModel.mom"]

  /// Without content that only one of the two forms has, or that apps change at run time.
  ///
  /// Caches may hold a second index named after the property, and compilers for old systems rename
  /// indexes.
  private func comparable(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.map { entity in
      var entity = entity
      entity.managedObjectClassName = nil
      entity.codeGenerationType = nil
      var elements = entity.indexes.map(\.elements)
      elements = elements.enumerated().filter { !elements[..<$0.offset].contains($0.element) }.map(\.element)
      entity.indexes = elements.map { FetchIndexDescription(name: "\($0)", elements: $0) }
      entity.indexes.sort { $0.name < $1.name }
      for index in entity.attributes.indices { entity.attributes[index].usesScalarValueType = nil }
      return entity
    }
  }

  private func differences(_ source: [EntityDescription], _ compiled: [EntityDescription]) -> [String] {
    zip(source, compiled).filter { $0 != $1 }.map { pair in
      let properties = Set(pair.0.properties.map { AnyHashable($0) })
      let changed = pair.1.properties.filter { !properties.contains(AnyHashable($0)) }.map(\.name)
      return "\(pair.0.name): \(changed)"
    }
  }
}
