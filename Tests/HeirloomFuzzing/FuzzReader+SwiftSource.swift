import HeirloomModel
import HeirloomSwiftSource

extension FuzzReader {
  /// Does everything with a file that the tool does with an app's source: models, findings, frozen schemas.
  func swiftSource(_ bytes: [UInt8]) throws -> FuzzStage {
    var source = SwiftDataSource()
    source.add(bytes, path: "App.swift")
    guard source.faults.isEmpty else { return .container }
    let found = SwiftDataSchemas(source)
    let shipped = [("V1", ["Crate": "00"]), ("Gone", [:])]
    for finding in SwiftDataReview(found, shipped: shipped).findings where !finding.message.hasSuffix(".") {
      throw FuzzFinding("a finding is no sentence: \(finding.message)")
    }
    var stage = found.schemas.isEmpty ? FuzzStage.form : .content
    for schema in found.schemas + [found.schema(of: Set(source.modelNames).sorted())] {
      if try isCertain(schema, of: found), schema.place != nil { stage = .accepted }
    }
    return stage
  }

  /// Freezes the schema too; true for one without a doubt.
  private func isCertain(_ schema: SwiftDataSchemas.Schema, of found: SwiftDataSchemas) throws -> Bool {
    let builder = SwiftDataModelBuilder(of: schema.roots, in: found.source)
    _ = builder.places.count
    let isCertain = schema.faults.isEmpty && builder.doubts.isEmpty
    guard isCertain, !schema.roots.isEmpty else {
      _ = try? builder.model().versionHashes()
      return isCertain
    }
    let hashes: [String: VersionHash]
    do {
      hashes = try builder.model().versionHashes()
    } catch {
      // (Swift has names that are longer than those of models.)
      guard "\(error)".contains("is not a name") else {
        throw FuzzFinding("a schema without a doubt has no model: \(error)")
      }
      return false
    }
    let frozen: FrozenSchema
    do throws(FreezingError) {
      frozen = try FrozenSchema(schema, of: found, name: "Frozen", identifier: "1.0.0")
    } catch {
      guard !error.reasons.isEmpty else { throw FuzzFinding("a schema isn't frozen, and there is no reason") }
      return true
    }
    guard frozen.hashes == hashes else { throw FuzzFinding("a frozen schema has other hashes") }
    return true
  }
}
