import HeirloomMapping

extension ModelDifference {
  /// The suspected renames, in the order of `diagnostics`.
  ///
  /// - Complexity: O(*n*) in the number of suspicions times that of an entity's subentities.
  package var renames: [RenameSuspicion] {
    diagnostics.compactMap { RenameSuspicion($0, in: inference.correspondence) }
  }
}
