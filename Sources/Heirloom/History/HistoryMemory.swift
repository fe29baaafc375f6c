import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// The models and paths of a history that were computed for one store and are cached for the next.
///
/// A process that migrates the stores of many tenants meets the same few versions again and again. The cached values
/// depend on the history alone, so results are the same without the cache. Its size is bounded, whatever the number of
/// stores.
final class HistoryMemory: Sendable {
  /// The limit for cached models, and for cached paths: a fleet's stores are of few versions.
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

  /// The key of a path to the current version: everything that the path depends on.
  struct PathKey: Equatable, Sendable {
    /// The model that made a store.
    let source: ManagedObjectModel
    /// The name of the source's version in the history; `nil` if it has none.
    let versionName: String?
    let mappings: [MappingModel]
    /// The names of the mapping models for use in messages.
    let labels: [String]
  }

  /// The parts of plans that depend only on versions.
  let planning = PlanningMemory()

  private let state = Locked(State())

  // MARK: Models

  /// Returns the model of a version, and reads it if it isn't cached.
  ///
  /// The model is cached only if it has the wanted hashes; `nil` caches it in any case, as one on a store's path.
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

  /// Returns true if a version is known to have other hashes than a store; false if it was never read.
  func isKnownToDiffer(versionNamed name: String, from hashes: [String: VersionHash]) -> Bool {
    state.withLock { state in state.hashes[name].map { $0 != hashes } ?? false }
  }

  /// Returns the version hashes of a version, and reads it if they aren't cached; `nil` if it can't be read.
  func hashes(
    ofVersionNamed name: String, read: () throws(ModelReadingError) -> ManagedObjectModel
  ) -> [String: VersionHash]? {
    if let known = state.withLock({ $0.hashes[name] }) { return known }
    return (try? model(named: name, keptIfOf: [:], read: read))?.versionHashes()
  }

  /// Returns the entities of a version that were edited since it was shipped; `nil` for none, or if it was never read.
  ///
  /// `hashes` replaces the version's cached hashes. The result is cached.
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

  // MARK: Paths

  func mapping(of step: GivenHop, make: () throws -> MappingModel) rethrows -> MappingModel {
    if let known = state.withLock({ $0.steps[step.label] }) { return known }
    let made = try make()
    state.withLock { $0.steps[step.label] = made }
    return made
  }

  /// Returns the path to the current version, and computes it if it isn't cached; errors are not cached.
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
