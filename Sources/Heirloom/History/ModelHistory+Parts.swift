package import HeirloomModel

// The versions that a store was made with, whose model may be merged.
extension ModelHistory {
  /// The functions of a merged history.
  ///
  /// They are closures, so an app without merged models doesn't link their code.
  struct Merger: Sendable {
    /// Finds the path of a store of an earlier version; `nil` if it is of the current one or of none.
    let findWay: @Sendable (_ merged: ModelHistory, _ hashes: [String: VersionHash]) -> ModelHistory?
    /// Finds the version of each part.
    let findVersions:
      @Sendable (_ parts: [ModelHistory], _ hashes: [String: VersionHash]) -> (versions: [String?], missing: [String])
  }

  /// Finds the versions that together have the entities of a store.
  ///
  /// Returns the name of each part's version, or of this history's if it isn't merged; `nil` for parts that aren't
  /// needed. `missing` has the entities that no version has, sorted; if it is empty, the versions make up the store.
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

  /// Returns the name of a merged version: `A 1, B and C 2`.
  package static func mergedName(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
