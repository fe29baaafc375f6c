/// A rule for a store that this version of the app can't open.
public enum IncompatibleStorePolicy: String, Hashable, Sendable {
  /// It stays where it is, and the error is thrown.
  case `throw`
  /// It is set aside with all that belongs to it, so that a new store can be made in its place; nothing is deleted.
  case setAside
}
