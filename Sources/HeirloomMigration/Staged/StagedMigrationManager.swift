import HeirloomFormats
package import HeirloomModel
package import HeirloomStore

/// A manager that migrates a store from its version to the current model, stage by stage.
///
/// All stages run in one candidate, which replaces the store once, at the end. The manager belongs to one task.
public final class StagedMigrationManager {
  /// The stages in the order of the versions.
  public let stages: [StoreMigrationStage]

  /// Creates a manager.
  ///
  /// - Parameters:
  ///   - stages: The stages in the order of the versions.
  ///   - versions: All shipped versions, oldest first, against which the stages are checked; with `nil`, the stages are
  ///     only checked against each other.
  /// - Throws: ``StagedMigrationError`` with every rule that the stages break.
  public init(
    _ stages: [StoreMigrationStage], versions: [(name: String, checksum: String)]? = nil
  ) throws(StagedMigrationError) {
    self.stages = stages
    let violations = StageRules(stages, versions: versions).violations
    guard violations.isEmpty else { throw StagedMigrationError(violations) }
  }

  /// Throws if the store's version hashes are of another kind than models have.
  package static func check(_ metadata: StoreMetadata) throws(StagedMigrationError) {
    // Stores without this value come from Core Data's first releases with hashes, which have the same kind.
    guard let value = metadata.otherValues[PhysicalName.versionHashesVersionKey], value != .integer(3) else { return }
    throw StagedMigrationError([
      .unsupportedMetadata(
        reason:
          "the store's version hashes have the format \(value.integerValue.map(String.init) ?? "unknown"); expected"
          + " 3, because stages are found by the checksum of hashes")
    ])
  }

  package struct StagedHop {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    /// `nil` for an inferred hop without code.
    package let stage: CustomMigrationStage?
  }

  /// Empty if the store already has the current model; each custom stage is a hop of its own,
  /// lightweight stages are not.
  package func hops(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws(StagedMigrationError) -> [StagedHop] {
    let (start, end) = (source.versionChecksum(), destination.versionChecksum())
    guard var position = stages.firstIndex(where: { $0.starts(at: start) }) ?? position(afterReaching: start) else {
      throw StagedMigrationError([.unknownVersion(checksum: start)])
    }
    if let last = stages.lastIndex(where: { $0.names(end) }), last < position {
      throw StagedMigrationError([.backward(from: stageName(position), to: stageName(last))])
    }
    var hops: [StagedHop] = []
    var model = source
    while position < stages.count, model.versionChecksum() != end {
      defer { position += 1 }
      guard let stage = stages[position] as? CustomMigrationStage else { continue }
      if model.versionChecksum() != stage.currentModel.versionChecksum {
        let current = try stage.currentModel.resolvedModel()
        hops.append(StagedHop(source: model, destination: current, stage: nil))
        model = current
      }
      // The app's own model has the latest identifiers and user info.
      let next = stage.nextModel.versionChecksum == end ? destination : try stage.nextModel.resolvedModel()
      hops.append(StagedHop(source: model, destination: next, stage: stage))
      model = next
    }
    if model.versionChecksum() != end { hops.append(StagedHop(source: model, destination: destination, stage: nil)) }
    return hops
  }

  /// `nil` if no custom stage has such a model, or it can't be read.
  package func model(withHashes hashes: [String: VersionHash]) -> ManagedObjectModel? {
    let checksum = ManagedObjectModel.versionChecksum(of: hashes)
    let references = stages.compactMap { $0 as? CustomMigrationStage }.flatMap { [$0.currentModel, $0.nextModel] }
    for reference in references where reference.versionChecksum == checksum {
      if let model = try? reference.resolvedModel(), model.versionHashes() == hashes { return model }
    }
    return nil
  }

  private func position(afterReaching checksum: String) -> Int? {
    stages.lastIndex { ($0 as? CustomMigrationStage)?.nextModel.versionChecksum == checksum }.map { $0 + 1 }
  }

  func stageName(_ position: Int) -> String { StageRules.name(of: stages, at: position) }

  func stageName(of stage: StoreMigrationStage) -> String {
    stages.firstIndex { $0 === stage }.map(stageName) ?? "a stage"
  }
}

/// A manager belongs to one task, because its stages do.
@available(*, unavailable)
extension StagedMigrationManager: Sendable {}

extension StoreMigrationStage {
  func starts(at checksum: String) -> Bool {
    switch self {
    case let stage as LightweightMigrationStage: stage.versionChecksums.contains(checksum)
    case let stage as CustomMigrationStage: stage.currentModel.versionChecksum == checksum
    default: false
    }
  }

  func names(_ checksum: String) -> Bool {
    starts(at: checksum) || (self as? CustomMigrationStage)?.nextModel.versionChecksum == checksum
  }
}
