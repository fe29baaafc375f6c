/// Imbalances that were found and aren't mended yet: what the cases leave out until they are.
///
/// To mend one, set its switch to false: the seeds that it keeps away find it within a few hundred.
enum KnownImbalances {
  /// Keys that lead to no object are told as links when their relationship is dropped.
  static let leavesOutKeysToNothing = true

  /// Where both sides of a one-to-one relationship go, each tells the links of its own column alone, and not those that
  /// only the other side has.
  static let leavesOutOneSidedLinksThatGo = true

  /// A link between two objects, both of an entity that leaves the tree from which it inherits the relationship and its
  /// inverse, goes without a word.
  static let leavesOutLinksWithinWhatMovesOut = true

  /// Values that an unknown column has in rows of links go without a word with their rows, where the table stays.
  static let leavesOutUnknownValuesOfLinksThatGo = true

  /// Where two tables become one, unknown columns of one name may have different types: values of one become the
  /// other's.
  static let leavesOutUnknownColumnsOfTwoTypes = true

  /// A text or number in a column of binary data becomes a blob when the attribute becomes external.
  static let leavesOutStrangeExternalData = true

  /// Code loses without a word: attributes that the mapping has no place for, values of other types that it copies, and
  /// links to objects that go.
  static let leavesOutValuesByCode = true
}
