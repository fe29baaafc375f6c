import HeirloomMapping
import HeirloomModel
import Synchronization

/// What was read of a history's versions and worked out from them, for the next store.
///
/// A process that migrates the stores of many tenants meets the same few versions again and again. All of it follows from the
/// history alone, so that a store gets what it would have got without; and it is bounded, so that memory doesn't grow with the
/// number of stores.
final class HistoryMemory: Sendable {
  /// How many models, and how many ways, are remembered: the stores of a fleet are of few versions.
  private static let limit = 8

  private struct State {
    var hashes: [String: [String: VersionHash]] = [:]
    var models: [(name: String, model: ManagedObjectModel)] = []
    var paths: [(key: PathKey, path: MigrationPath)] = []
    var hasFailed = false
  }

  /// What decides the way to the current version.
  struct PathKey: Equatable, Sendable {
    /// The model that made a store.
    let source: ManagedObjectModel
    /// Its name in the history; `nil` if it has none.
    let versionName: String?
    /// The mapping models that are given.
    let mappings: [MappingModel]
    /// What sentences about the path call them.
    let labels: [String]
  }

  private let state = Mutex(State())

  // MARK: Models

  /// Returns the model of a version, and reads it if it is not remembered.
  ///
  /// - Parameters:
  ///   - name: The version's name.
  ///   - wanted: Version hashes without which the model is read for this once; `nil` for a model on a store's way.
  ///   - read: Reads it; several threads may do so at once.
  /// - Returns: The model.
  /// - Throws: What `read` throws: that is not remembered.
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
      // A way that was found without this version may be another than with it.
      if wanted == nil { state.withLock { $0.hasFailed = true } }
      throw error
    }
  }

  /// Whether a version is remembered to have other hashes than a store; false if it was never read.
  func isKnownToDiffer(versionNamed name: String, from hashes: [String: VersionHash]) -> Bool {
    state.withLock { state in state.hashes[name].map { $0 != hashes } ?? false }
  }

  // MARK: Ways

  /// Returns the way to the current version, and looks for it if it is not remembered.
  ///
  /// - Parameters:
  ///   - key: What decides it.
  ///   - find: Looks for it.
  /// - Returns: The way.
  /// - Throws: What `find` throws: that is not remembered.
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
