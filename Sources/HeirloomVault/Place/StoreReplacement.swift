package import HeirloomStore

/// The caller's description of a swap before the candidate is built.
package struct StoreReplacement {
  /// The operation of the swap.
  package var operation: VaultManifest.Operation = .migration
  /// The bytes of a snapshot of the old store's model, kept with it.
  package var previousSnapshot: [UInt8]?
  /// The checksum of the old store's model, for display.
  package var previousChecksum: String?
  /// The name of the old store's version, for display; `nil` if it isn't known.
  package var previousName: String?
  /// The space that building takes without the reserve, in bytes.
  package var bytesNeeded: UInt64 = 0
  /// The name of the set-aside store that returns; `nil` for any other operation.
  var adoptedSet: String?
  /// The store's state before anything was counted in it, for `StoreHold.isAsSeen`.
  package var seen: StoreState?
  /// Creates a description.
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
