package import Foundation
import HeirloomCommands
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The one way into each reader, for the fuzzer that is guided by coverage and for the run of mutated inputs.
///
/// It does with the result what an app would do, and checks what must hold then.
package final class FuzzReader {
  package let target: FuzzTarget
  /// Inputs may fill it; its contents are removed.
  let folder: URL
  /// Results are compared with it.
  let reference: ManagedObjectModel
  /// Objects on which conditions are tried, made when they are first needed.
  var conditionStore: PersistentStore?
  lazy var object = EvaluatedValue.object(FuzzObject.sample())
  lazy var evaluator = ExpressionEvaluator(
    variables: ["source": object, "x": .integer(5), "v": .string("x")], now: 12.5)

  package init(_ target: FuzzTarget, folder: URL) throws {
    self.target = target
    self.folder = folder
    reference = try ModelFile.read(FuzzSeeds.snapshots.appendingPathComponent("Done/Done.json").path).model
  }

  /// Throws ``FuzzFinding`` if the reader does something that it must not do.
  package func read(_ bytes: [UInt8]) throws -> FuzzStage {
    switch target {
    case .archivedValue: try archivedValue(bytes)
    case .propertyList: try propertyList(bytes)
    case .compiledModel: try model(bytes, stage: Self.propertyListStage) { try ModelArchiveReader.read($0).model }
    case .modelCache:
      try model(bytes, stage: Self.cacheStage) { try ModelArchiveReader.readCache($0).model }
    case .modelSource: try model(bytes, stage: Self.markupStage) { try ModelSourceReader.read($0).model }
    case .snapshot: try model(bytes, stage: Self.snapshotStage) { try ModelSnapshot(bytes: $0).model }
    case .mappingSource: try mapping(bytes, stage: Self.markupStage)
    case .compiledMapping: try mapping(bytes, stage: Self.propertyListStage)
    case .expression: try expression(bytes)
    case .predicate: try predicate(bytes)
    case .swiftSource: try swiftSource(bytes)
    case .logText: logText(bytes)
    case .store: try store(bytes)
    case .surroundings: try surroundings(bytes)
    }
  }

  // MARK: Values

  private func archivedValue(_ bytes: [UInt8]) throws -> FuzzStage {
    guard let value = try? ArchivedValue(decoding: bytes) else { return Self.propertyListStage(bytes) }
    // A value that can be encoded reads back. NaN doesn't equal itself, so bytes count too; keys of dictionaries that
    // are not text have no fixed order, so bytes alone don't.
    if let encoded = try? value.encoded() {
      let again = try ArchivedValue(decoding: encoded)
      guard try again == value || again.encoded() == encoded else {
        throw FuzzFinding("an archived value is another one when it is read again")
      }
    }
    _ = value.hashValue
    return .accepted
  }

  private func propertyList(_ bytes: [UInt8]) throws -> FuzzStage {
    let isBinary = BinaryPropertyListReader.recognizes(bytes)
    guard let value = try? PropertyListValue(contentsOf: bytes) else {
      return isBinary ? Self.propertyListStage(bytes) : Self.markupStage(bytes)
    }
    if let encoded = try? BinaryPropertyListWriter.bytes(of: value) {
      let again = try BinaryPropertyListWriter.bytes(of: BinaryPropertyListReader(encoded).value())
      guard again == encoded else { throw FuzzFinding("a property list is another one when it is read again") }
    }
    return .accepted
  }

  private func logText(_ bytes: [UInt8]) -> FuzzStage {
    let places = HashesInText(bytes).places
    return places.isEmpty ? .form : places.contains { $0.hashes.isWhole } ? .accepted : .content
  }

  // MARK: Models

  private func model(
    _ bytes: [UInt8], stage: ([UInt8]) -> FuzzStage, _ read: ([UInt8]) throws -> ManagedObjectModel
  ) throws -> FuzzStage {
    let model: ManagedObjectModel
    do {
      model = try read(bytes)
    } catch {
      _ = "\(error)"
      return stage(bytes)
    }
    try use(model)
    return .accepted
  }

  /// As an app's launch does.
  private func use(_ model: ManagedObjectModel) throws {
    let content = ModelSnapshot.canonicalModelBytes(of: model)
    let snapshot = ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0))
    // Expressions may be nested more deeply than a snapshot can be.
    if let bytes = try? snapshot.bytes(.compressed) {
      let read = try ModelSnapshot(bytes: bytes).model
      guard ModelSnapshot.canonicalModelBytes(of: read) == content, ModelSnapshot.file(bytes, holds: model) else {
        throw FuzzFinding("a snapshot holds another model than was put in")
      }
    }
    if let bytes = try? ModelArchiveWriter.archive(model) {
      let read = try ModelArchiveReader.read(bytes).model
      guard Self.repeatsConstraint(model) || read.versionHashes() == model.versionHashes() else {
        throw FuzzFinding("a compiled model has other hashes than the model that was put in")
      }
    }
    let same = ModelDifference(from: model, to: model)
    guard same.verdict == .identical else {
      throw FuzzFinding("a model differs from itself: \(same.changes.prefix(3).map(\.description))")
    }
    for (source, destination) in [(model, reference), (reference, model)] {
      let difference = ModelDifference(from: source, to: destination)
      _ = difference.changes.map(\.description) + difference.obstacles.map(\.description)
      _ = try? difference.inference.mappingModel()
    }
    let schema = PhysicalSchema(model: model)
    _ = schema.tables.count + schema.triggers.count
  }

  /// An archive can't tell an ancestor's constraint that is repeated from an inherited one.
  private static func repeatsConstraint(_ model: ManagedObjectModel) -> Bool {
    model.entities.contains { entity in
      var parent = entity.superentity.flatMap { model.entity(named: $0) }
      while let ancestor = parent {
        if entity.uniquenessConstraints.contains(where: ancestor.uniquenessConstraints.contains) { return true }
        parent = ancestor.superentity.flatMap { model.entity(named: $0) }
      }
      return false
    }
  }

  // MARK: Mappings

  private func mapping(_ bytes: [UInt8], stage: ([UInt8]) -> FuzzStage) throws -> FuzzStage {
    guard let read = try? MappingModelFile.read(bytes).read else { return stage(bytes) }
    _ = read.mismatches(from: reference, to: reference).map(\.description)
    let completed = read.mappingModel.completed(from: reference, to: reference)
    let inference = MappingInference(from: reference, to: reference, given: completed.entityMappings)
    _ = try? inference.mappingModel()
    if let archive = try? MappingArchiveWriter.archive(read.mappingModel) { _ = try MappingModelFile.read(archive) }
    return .accepted
  }

  // MARK: Stages of refused inputs

  private static func propertyListStage(_ bytes: [UInt8]) -> FuzzStage {
    do throws(FormatError) {
      _ = try BinaryPropertyListReader(bytes)
      return .content
    } catch {
      let isContainer =
        error.place == .whole || error.place == .byte(bytes.count) || error.reason.contains("trailer")
      return isContainer ? .container : .form
    }
  }

  private static func cacheStage(_ bytes: [UInt8]) -> FuzzStage {
    guard let archive = try? Compression.inflate(bytes) else { return .container }
    return max(propertyListStage(archive), .form)
  }

  private static func markupStage(_ bytes: [UInt8]) -> FuzzStage {
    do throws(FormatError) {
      _ = try MarkupReader.rootElement(of: bytes)
      return .content
    } catch {
      let isContainer = error.place == .whole || error.reason.contains("declaration of entities")
      return isContainer ? .container : .form
    }
  }

  private static func snapshotStage(_ bytes: [UInt8]) -> FuzzStage {
    var json = bytes
    if Compression.isGzip(bytes) {
      guard let content = try? Compression.gunzip(bytes) else { return .container }
      json = content
    } else if bytes.first != UInt8(ascii: "{") {
      return .container
    }
    return (try? JSONReader.value(of: json)) == nil ? .form : .content
  }
}

extension FuzzStage: Comparable {
  package static func < (left: FuzzStage, right: FuzzStage) -> Bool { left.rawValue < right.rawValue }
}
