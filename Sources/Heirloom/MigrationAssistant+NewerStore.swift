import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

// A store may be too new after the app was set back to an earlier release, as by TestFlight, or too old after the app
// dropped its oldest versions.
extension MigrationAssistant {
  /// A store is newer if the history has its version after the current one, unless a given mapping
  /// leads back from it, which shows that the app wants to go back.
  ///
  /// A version that the history doesn't have is newer if a store of the current model was kept when
  /// it was migrated to something else, or if the store's snapshot lists the current model among
  /// its earlier versions. The store's version hashes must not be those of the current model.
  func newerStore(of metadata: StoreMetadata) -> NewerStore? {
    var known = history.version(withHashes: metadata.versionHashes)?.name
    // An earlier version may have the same hashes as a later one, and come first.
    if known != nil, history.hasLaterVersions { known = versionName(of: metadata) ?? known }
    return newerStore(withHashes: metadata.versionHashes, known: known)
  }

  func newerStore(withHashes hashes: [String: VersionHash], known: String?) -> NewerStore? {
    if let known {
      guard history.isNewer(known) else { return nil }
      if let model = try? history.model(named: known), isLedBack(from: model, named: known) { return nil }
    }
    let checksum = history.current.versionChecksum()
    let kept = (try? archive.previousVersions()) ?? []
    let fitting = kept.filter { $0.versionChecksum == checksum }
    // A version kept by a restoration proves nothing: the store that replaced it is the older one of the two.
    guard known != nil || fitting.contains(where: { $0.operation == .migration }) || comesAfter(checksum, hashes)
    else { return nil }
    return NewerStore(
      storePath: storeURL.path, versionName: known,
      versionChecksum: ManagedObjectModel.versionChecksum(of: hashes),
      fittingVersions: fitting + earlierVersions(in: kept))
  }

  private func earlierVersions(in kept: [PreviousVersion]) -> [PreviousVersion] {
    let before = history.versionNames.prefix { $0 != history.currentName }
    let names = before.drop { history.floor != nil && $0 != history.floor }
    let checksums = Set(names.compactMap { try? history.model(named: $0)?.versionChecksum() })
    return kept.filter { $0.versionChecksum.map(checksums.contains) ?? false }
  }

  private func comesAfter(_ checksum: String, _ hashes: [String: VersionHash]) -> Bool {
    guard let snapshot = try? modelController.snapshot(), snapshot.versionHashes == hashes else { return false }
    return snapshot.earlierVersions.contains(checksum)
  }

  private func isLedBack(from model: ManagedObjectModel, named name: String) -> Bool {
    guard let given = try? givenMappings(from: name, model), !given.models.isEmpty else { return false }
    let found = try? path(from: model, named: name, given)
    return found?.hops.first?.isGiven ?? false
  }

  /// Most apps have no later version and no floor: then no file of the history is read.
  func checkAge(_ metadata: StoreMetadata) throws(MigrationAssistantError) {
    if let floor = history.floor, let name = history.versionBelowFloor(withHashes: metadata.versionHashes) {
      throw .belowFloor(storePath: storeURL.path, versionName: name, floor: floor)
    }
    guard history.hasLaterVersions, let newer = newerStore(of: metadata),
      newer.versionName != nil
    else { return }
    throw .newerVersion(newer)
  }

  func explained(_ error: MigrationAssistantError) -> MigrationAssistantError {
    switch error {
    case .noModel, .mappingNeeded, .unknownVersion, .failed(_, .unfitDecision):
      guard let metadata = try? storeMetadata() else { return error }
      if let newer = newerStore(of: metadata) { return .newerVersion(newer) }
      return partsMissing(metadata, error) ?? error
    default: return error
    }
  }

  private func partsMissing(
    _ metadata: StoreMetadata, _ error: MigrationAssistantError
  ) -> MigrationAssistantError? {
    let plan: MigrationPlan?
    switch error {
    case .noModel: plan = nil
    case .unknownVersion(_, let found, _): plan = found
    default: return nil
    }
    let (versions, missing) = history.versions(havingAllOf: metadata.versionHashes)
    let names = versions.compactMap(\.self)
    guard !names.isEmpty, !missing.isEmpty else { return nil }
    return .partsMissing(storePath: storeURL.path, versions: names, entities: missing, plan: plan)
  }
}
