/// The rules for a migration's stages, which are all checked at once.
///
/// They are Core Data's, as far as those are known: `Sources/Heirloom/Heirloom.docc/StagedAndDeferred.md` lists them.
struct StageRules {
  let stages: [StoreMigrationStage]
  /// All shipped versions, oldest first; `nil` if they are not known.
  let versions: [(name: String, checksum: String)]?

  init(_ stages: [StoreMigrationStage], versions: [(name: String, checksum: String)]?) {
    self.stages = stages
    self.versions = versions
  }

  var violations: [StagedMigrationError.Violation] {
    guard !stages.isEmpty else { return [.noStages] }
    return emptyStages + duplicates + gaps + disorder + missingVersions
  }

  static func name(of stages: [StoreMigrationStage], at position: Int) -> String {
    guard stages.indices.contains(position) else { return "stage \(position + 1)" }
    let label = stages[position].label
    return label.isEmpty ? "stage \(position + 1)" : "stage \(position + 1) (\(label))"
  }

  private func name(_ position: Int) -> String { Self.name(of: stages, at: position) }

  private var emptyStages: [StagedMigrationError.Violation] {
    stages.enumerated().compactMap { position, stage in
      switch stage {
      case let stage as LightweightMigrationStage where stage.versionChecksums.isEmpty:
        .emptyStage(stage: name(position))
      case let stage as CustomMigrationStage
      where stage.currentModel.versionChecksum == stage.nextModel.versionChecksum:
        .standstill(stage: name(position))
      default: nil
      }
    }
  }

  /// The versions that occur twice, other than between two consecutive custom stages.
  private var duplicates: [StagedMigrationError.Violation] {
    var places: [String: [Int]] = [:]
    var order: [String] = []
    for (position, stage) in stages.enumerated() {
      for checksum in Self.checksums(of: stage) {
        if places[checksum] == nil { order.append(checksum) }
        places[checksum, default: []].append(position)
      }
    }
    return order.compactMap { checksum in
      guard let positions = places[checksum], positions.count > 1 else { return nil }
      if positions.count == 2, positions[1] == positions[0] + 1, joins(positions[0], positions[1], checksum) {
        return nil
      }
      // A stage from a version to itself is reported as a standstill.
      if Set(positions).count == 1, stages[positions[0]] is CustomMigrationStage { return nil }
      return .duplicateVersion(checksum: checksum, stages: positions.map(name))
    }
  }

  private func joins(_ first: Int, _ second: Int, _ checksum: String) -> Bool {
    guard let first = stages[first] as? CustomMigrationStage, let second = stages[second] as? CustomMigrationStage
    else { return false }
    return first.nextModel.versionChecksum == checksum && second.currentModel.versionChecksum == checksum
  }

  private static func checksums(of stage: StoreMigrationStage) -> [String] {
    switch stage {
    case let stage as LightweightMigrationStage: stage.versionChecksums
    case let stage as CustomMigrationStage: [stage.currentModel.versionChecksum, stage.nextModel.versionChecksum]
    default: []
    }
  }

  private var gaps: [StagedMigrationError.Violation] {
    stages.indices.dropFirst().compactMap { position in
      guard let before = stages[position - 1] as? CustomMigrationStage,
        let after = stages[position] as? CustomMigrationStage,
        before.nextModel.versionChecksum != after.currentModel.versionChecksum,
        // Two stages in the wrong order are reported as such.
        !leadsBack(from: position, to: position - 1)
      else { return nil }
      return .gap(after: name(position - 1), before: name(position))
    }
  }

  /// As far as the versions or the stages themselves define the order.
  private var disorder: [StagedMigrationError.Violation] {
    stages.indices.filter { position in
      stages[..<position].indices.contains { leadsBack(from: position, to: $0) } || leadsBackInHistory(position)
    }.map { .wrongOrder(stage: name($0)) }
  }

  private func leadsBack(from position: Int, to earlier: Int) -> Bool {
    guard let stage = stages[position] as? CustomMigrationStage,
      let earlier = stages[earlier] as? CustomMigrationStage
    else { return false }
    return stage.nextModel.versionChecksum == earlier.currentModel.versionChecksum
  }

  private func leadsBackInHistory(_ position: Int) -> Bool {
    guard let versions, let last = versions.last?.checksum else { return false }
    // A version may have been shipped twice: as a source, its first release counts, and as a destination, its last.
    func first(_ checksum: String) -> Int? { versions.firstIndex { $0.checksum == checksum } }
    func latest(_ checksum: String) -> Int? { versions.lastIndex { $0.checksum == checksum } }
    func isBack(_ source: String, _ destination: String) -> Bool {
      guard source != last, let from = first(source), let to = latest(destination) else { return false }
      return to < from
    }
    switch stages[position] {
    case let stage as LightweightMigrationStage:
      guard let target = nextCustomStage(after: position)?.currentModel.versionChecksum else { return false }
      return stage.versionChecksums.contains { isBack($0, target) }
    case let stage as CustomMigrationStage:
      let next = stage.nextModel.versionChecksum
      if isBack(stage.currentModel.versionChecksum, next) { return true }
      return nextCustomStage(after: position).map { isBack(next, $0.currentModel.versionChecksum) } ?? false
    default: return false
    }
  }

  private func nextCustomStage(after position: Int) -> CustomMigrationStage? {
    stages[(position + 1)...].lazy.compactMap { $0 as? CustomMigrationStage }.first
  }

  /// Except the last version, at which the path ends.
  private var missingVersions: [StagedMigrationError.Violation] {
    guard let versions, let last = versions.last?.checksum else { return [] }
    let named = Set(stages.flatMap(Self.checksums))
    return versions.filter { $0.checksum != last && !named.contains($0.checksum) }
      .map { .missingVersion(checksum: $0.checksum, name: $0.name) }
  }
}
