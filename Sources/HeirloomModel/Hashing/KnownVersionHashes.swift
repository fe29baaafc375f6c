import Synchronization

/// The version hashes of a model, from the first time that someone asks for them.
///
/// A model never changes, so its copies share them: whoever compares versions asks many times for the hashes of few models.
final class KnownVersionHashes: Sendable {
  private let known = Mutex<[String: VersionHash]?>(nil)

  /// Returns the hashes, computed if nobody asked before.
  ///
  /// The lock is not held meanwhile: whoever comes second at the same time computes the same.
  func hashes(computedBy compute: () -> [String: VersionHash]) -> [String: VersionHash] {
    if let hashes = known.withLock({ $0 }) { return hashes }
    let hashes = compute()
    known.withLock { $0 = hashes }
    return hashes
  }
}
