import HeirloomMapping

extension ModelDifference {
  /// In the order of `diagnostics`.
  package var renames: [RenameSuspicion] {
    diagnostics.compactMap { RenameSuspicion($0, in: inference.correspondence) }
  }
}
