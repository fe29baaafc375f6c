import HeirloomFormats
package import HeirloomModel

// Which versions a store was made of, whose model may be merged of several.
extension ModelHistory {
  /// Finds the versions that together have the entities of a store.
  ///
  /// - Parameter hashes: The store's version hashes.
  /// - Returns: The name of each part's version, or of this history's where it isn't merged; `nil` where none is needed.
  ///   Besides, the entities that no version has, sorted; where there are none, the store is made of the versions.
  package func merged(withHashes hashes: [String: VersionHash]) -> (versions: [String?], missing: [String]) {
    let fitting = (parts.isEmpty ? [self] : parts).map { $0.fitting(hashes) }
    let found = ManagedObjectModel.versions(
      having: Set(hashes.keys), in: fitting.map { $0.map(\.entities) })
    let versions = zip(fitting, found.needed).map { fitting, needed in needed.map { fitting[$0].name } }
    return (versions, found.missing.ordered())
  }

  /// Returns the versions all of whose entities a store has, the likeliest first, without those that have no entity more
  /// than another.
  private func fitting(_ hashes: [String: VersionHash]) -> [(name: String, entities: Set<String>)] {
    var found: [(name: String, entities: Set<String>)] = []
    func add(_ name: String, _ entities: some Sequence<String>) {
      let entities = Set(entities)
      guard !entities.isEmpty, !found.contains(where: { $0.entities.isSuperset(of: entities) }) else { return }
      found.removeAll { entities.isSuperset(of: $0.entities) }
      found.append((name, entities))
    }
    let end = versions.firstIndex { $0.name == currentName }.map { $0 + 1 } ?? versions.count
    let likely = versions[..<end].reversed() + versions[end...]
    for version in likely.filter(\.isGiven) + likely.filter({ !$0.isGiven }) {
      guard let own = self.hashes(of: version), own.allSatisfy({ hashes[$0.key] == $0.value }) else { continue }
      add(version.name, own.keys)
    }
    // A version before the floor needs no model.
    for entry in lock?.versionsBelowFloor ?? [] where !versions.contains(where: { $0.name == entry.name }) {
      guard let own = entry.entities, own.allSatisfy({ hashes[$0.key]?.description == $0.value }) else { continue }
      add(entry.name, own.keys)
    }
    return found
  }

  /// Returns the name of a version that is merged of others: `A 1, B and C 2`.
  package static func mergedName(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }
}
