import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// A process that migrates the stores of many tenants meets the same few versions again and again.
///
/// The cached values depend on the history alone, so results are the same without the cache.
final class HistoryMemory: Sendable {
  /// For models, and for paths: a fleet's stores are of few versions.
  private static let limit = 8

  private struct State {
    var hashes: [String: [String: VersionHash]] = [:]
    var edited: [String: [String]?] = [:]
    var models: [(name: String, model: ManagedObjectModel)] = []
    var paths: [(key: PathKey, path: MigrationPath)] = []
    var steps: [String: MappingModel] = [:]
    var earlier: [String: [String]] = [:]
    var hasFailed = false
  }

  /// Everything that a path to the current version depends on.
  struct PathKey: Equatable, Sendable {
    let source: ManagedObjectModel
    let versionName: String?
    let mappings: [MappingModel]
    let labels: [String]
  }

  let planning = PlanningMemory()

  private let state = Locked(State())

  /// `wanted` are the hashes that a model must have to be cached; `nil` for one on a store's path.
  ///
  /// Several threads may call `read` at once, and its errors are not cached.
  func model<Failure: Error>(
    named name: String, keptIfOf wanted: [String: VersionHash]? = nil, read: () throws(Failure) -> ManagedObjectModel
  ) throws(Failure) -> ManagedObjectModel {
    if let known = state.withLock({ $0.models.first { $0.name == name } }) { return known.model }
    do throws(Failure) {
      let model = try read()
      let hashes = model.versionHashes()
      state.withLock { state in
        state.hashes[name] = hashes
        guard wanted == nil || wanted == hashes, !state.models.contains(where: { $0.name == name }) else { return }
        if state.models.count >= Self.limit { state.models.removeFirst() }
        state.models.append((name, model))
      }
      return model
    } catch {
      // A path that was found without this version may differ from one with it.
      if wanted == nil { state.withLock { $0.hasFailed = true } }
      throw error
    }
  }

  /// False if the version was never read.
  func isKnownToDiffer(versionNamed name: String, from hashes: [String: VersionHash]) -> Bool {
    state.withLock { state in state.hashes[name].map { $0 != hashes } ?? false }
  }

  func hashes(
    ofVersionNamed name: String, read: () throws(ModelReadingError) -> ManagedObjectModel
  ) -> [String: VersionHash]? {
    if let known = state.withLock({ $0.hashes[name] }) { return known }
    return (try? model(named: name, keptIfOf: [:], read: read))?.versionHashes()
  }

  /// `hashes` replaces the version's cached hashes; `nil` also if the version was never read.
  func editedEntities(since entry: VersionLock.Entry, hashes: [String: VersionHash]? = nil) -> [String]? {
    state.withLock { state in
      if let known = state.edited[entry.name] { return known }
      guard let found = hashes ?? state.hashes[entry.name] else { return nil }
      let edited = entry.editedEntities(in: found)
      state.edited.updateValue(edited, forKey: entry.name)
      return edited
    }
  }

  func checksums(before name: String, find: () -> [String]) -> [String] {
    if let known = state.withLock({ $0.earlier[name] }) { return known }
    let found = find()
    state.withLock { $0.earlier[name] = found }
    return found
  }

  func mapping(of step: GivenHop, make: () throws -> MappingModel) rethrows -> MappingModel {
    if let known = state.withLock({ $0.steps[step.label] }) { return known }
    let made = try make()
    state.withLock { $0.steps[step.label] = made }
    return made
  }

  /// Errors are not cached.
  func path<Failure: Error>(
    _ key: PathKey, find: () throws(Failure) -> MigrationPath
  ) throws(Failure) -> MigrationPath {
    let known = state.withLock { $0.paths }.first { $0.key == key }
    if let known { return known.path }
    let path = try find()
    state.withLock { state in
      guard !state.hasFailed else { return }
      if state.paths.count >= Self.limit { state.paths.removeFirst() }
      state.paths.append((key, path))
    }
    return path
  }
}
