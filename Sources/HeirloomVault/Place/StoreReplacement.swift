package import HeirloomStore

/// The caller's description of a swap before the candidate is built.
package struct StoreReplacement {
  package var operation: VaultManifest.Operation = .migration
  package var previousSnapshot: [UInt8]?
  package var previousChecksum: String?
  package var previousName: String?
  /// Without the reserve.
  package var bytesNeeded: UInt64 = 0
  /// The set-aside store that returns.
  var adoptedSet: String?
  /// The store's state before anything was counted in it, for `StoreHold.isAsSeen`.
  package var seen: StoreState?
  package init(
    operation: VaultManifest.Operation = .migration, previousSnapshot: [UInt8]? = nil,
    previousChecksum: String? = nil, previousName: String? = nil,
    bytesNeeded: UInt64 = 0, seen: StoreState? = nil
  ) {
    self.operation = operation
    self.previousSnapshot = previousSnapshot
    self.previousChecksum = previousChecksum
    self.previousName = previousName
    self.bytesNeeded = bytesNeeded
    self.seen = seen
  }
}
