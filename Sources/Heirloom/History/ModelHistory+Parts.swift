package import HeirloomModel

extension ModelHistory {
  /// Closures, so an app without merged models doesn't link the code of merged histories.
  struct Merger: Sendable {
    /// `nil` if the store is of the current version or of none.
    let findWay: @Sendable (_ merged: ModelHistory, _ hashes: [String: VersionHash]) -> ModelHistory?
    let findVersions:
      @Sendable (_ parts: [ModelHistory], _ hashes: [String: VersionHash]) -> (versions: [String?], missing: [String])
  }

  /// A version is `nil` for a part that isn't needed; `missing` has the entities that no version
  /// has, sorted.
  package func versions(havingAllOf hashes: [String: VersionHash]) -> (versions: [String?], missing: [String]) {
    if let merger { return merger.findVersions(parts, hashes) }
    var (name, missing) = (nil as String?, hashes.keys.ordered())
    for version in likelyVersions {
      guard let own = self.hashes(of: version), own.allSatisfy({ hashes[$0.key] == $0.value }) else { continue }
      let rest = hashes.keys.filter { own[$0] == nil }
      if rest.count < missing.count { (name, missing) = (version.name, rest.ordered()) }
    }
    return ([name], missing)
  }

  /// Such as `A 1, B and C 2`.
  package static func mergedName(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
