/// The release of the library.
package enum HeirloomRelease {
  /// The version.
  package static let version: String = "1.0.0"
}
