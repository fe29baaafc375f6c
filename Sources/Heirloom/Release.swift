package enum HeirloomRelease {
  package static let version: String = "1.0.0"
}
