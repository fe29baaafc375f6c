/// A rule for a store that this version of the app can't open.
public enum IncompatibleStorePolicy: String, Hashable, Sendable {
  /// The store stays in its place, and the error is thrown.
  case `throw`
  /// The store is set aside with its files, and a new store can be created in its place; nothing is deleted.
  case setAside
}
