package import HeirloomVault

extension StoreVault {
  /// Replaces the store as a run does; each part is a closure.
  ///
  /// Returns `nil` when `prepare` does.
  @discardableResult
  package func replaceStore(
    prepare: () throws -> StoreReplacement?, build: (StoreHold, String) throws -> Void,
    prove: (StoreHold, String) throws -> Void
  ) throws -> PreviousVersionFiles? {
    let swap = try begin()
    guard let replacement = try prepare() else { return nil }
    do {
      let store = try swap.hold(replacement)
      try build(store, swap.candidatePath)
      try swap.prove { try prove(store, swap.candidatePath) }
      return try swap.commit()
    } catch {
      throw swap.rollBack(after: error)
    }
  }
}
