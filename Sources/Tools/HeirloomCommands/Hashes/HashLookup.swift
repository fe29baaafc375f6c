import Heirloom

/// The known versions, searched by hash.
struct HashLookup {
  /// A version, or one of its configurations.
  struct Candidate {
    let name: String
    /// `nil` for all entities.
    var configuration: String?
    /// Read from the lock because the model was edited or is missing.
    var isLocked = false
    let hashes: [String: VersionHash]
    var identifiers: [String] = []

    var words: String {
      "\"\(name)\"" + (configuration.map { " (configuration \"\($0)\")" } ?? "")
        + (isLocked ? " as the lock has it" : "")
    }
  }

  /// An entity whose given hash the version lacks, or that only the version has.
  struct Difference {
    /// `nil` for a hash given without a name that no version has.
    let entity: String?
    /// `nil` if none was given for the entity.
    let hash: KnownHash?
    let isInVersion: Bool
    /// Versions with the given hash, the likeliest first.
    let others: [String]
  }

  struct Answer {
    /// The likeliest first.
    var fitting: [Candidate] = []
    /// Versions that have all hashes together, as in a merged model; empty if one version suffices
    /// or none fit.
    var merged: [Candidate] = []
    /// If no version has all hashes, those with the fewest differences that share at least one
    /// hash; several only if just the checksum or the digest differs.
    var nearest: [Candidate] = []
    /// From the nearest version, or from all versions if there is none.
    var differences: [Difference] = []

    var isFound: Bool { !fitting.isEmpty || !merged.isEmpty }
  }

  /// The likeliest first.
  private let versions: [Candidate]
  private let configurations: [Candidate]
  let entities: Set<String>

  /// `models` come likeliest first; the versions of `locks` may have been edited or removed since.
  init(_ models: [NamedModel], locks: [VersionLock.Entry]) {
    var versions: [Candidate] = []
    var configurations: [Candidate] = []
    for model in models {
      let hashes = model.model.versionHashes()
      versions.append(Candidate(name: model.name, hashes: hashes, identifiers: model.model.versionIdentifiers))
      for configuration in model.model.configurations {
        let names = Set(configuration.entityNames)
        let own = hashes.filter { names.contains($0.key) }
        guard own.count < hashes.count, !own.isEmpty else { continue }
        configurations.append(Candidate(name: model.name, configuration: configuration.name, hashes: own))
      }
    }
    let known = Set(models.map { $0.model.versionChecksum() })
    for entry in locks.reversed() where entry.checksum.map({ !known.contains($0) }) ?? true {
      let hashes = (entry.entities ?? [:]).compactMapValues {
        KnownHash(argument: $0).flatMap { try? VersionHash($0.prefix) }
      }
      guard !hashes.isEmpty else { continue }
      versions.append(Candidate(name: entry.name, isLocked: true, hashes: hashes))
    }
    (self.versions, self.configurations) = (versions, configurations)
    entities = Set(versions.flatMap(\.hashes.keys))
  }

  func entities(having hash: KnownHash) -> [String] {
    let names = versions.flatMap { version in version.hashes.filter { hash.matches($0.value) }.keys }
    return Set(names).ordered()
  }

  func answer(to shown: ShownHashes) -> Answer {
    var answer = Answer()
    answer.fitting = (versions + configurations).filter {
      differences(of: shown, from: $0).isEmpty && agrees($0, shown)
    }
    guard answer.fitting.isEmpty else { return answer }
    answer.merged = merged(shown)
    guard answer.merged.isEmpty, !shown.entries.isEmpty else { return answer }
    // Among equally near versions, the one with the given identifiers is preferred.
    let named = { (version: Candidate) in !shown.identifiers.isEmpty && version.identifiers == shown.identifiers }
    let likely = versions.filter(named) + versions.filter { !named($0) }
    let near = likely.enumerated().map { number, version in
      NearVersion(name: "\(number)", differingEntities: differences(of: shown, from: version).map { $0.entity ?? "" })
    }
    guard let nearest = NearVersion.nearest(near).first, let version = Int(nearest.name).map({ likely[$0] }) else {
      return answer
    }
    answer.differences = differences(of: shown, from: version).map(explained)
    if answer.differences.isEmpty {
      answer.nearest = likely.filter { differences(of: shown, from: $0).isEmpty }
    } else if answer.differences.count(where: { $0.hash != nil }) < shown.entries.count {
      answer.nearest = [version]
    } else {
      answer.differences.removeAll { $0.hash == nil }
    }
    return answer
  }

  /// Checksum and digest match, or aren't needed because the hashes are complete.
  private func agrees(_ version: Candidate, _ shown: ShownHashes) -> Bool {
    guard shown.needsChecksum else { return true }
    let checksum = shown.checksum.map { $0 == ManagedObjectModel.versionChecksum(of: version.hashes) } ?? true
    return checksum && shown.digest.map { $0 == ManagedObjectModel.versionHashesDigest(of: version.hashes) } ?? true
  }

  private func differences(of shown: ShownHashes, from version: Candidate) -> [Difference] {
    var differences: [Difference] = []
    for entry in shown.entries {
      let hash = entry.entity.flatMap { version.hashes[$0] }
      if let hash, entry.hash.matches(hash) { continue }
      differences.append(Difference(entity: entry.entity, hash: entry.hash, isInVersion: hash != nil, others: []))
    }
    guard shown.isWhole else { return differences }
    let names = Set(shown.entries.map(\.entity))
    let missing = version.hashes.keys.filter { !names.contains($0) }.ordered()
    return differences + missing.map { Difference(entity: $0, hash: nil, isInVersion: true, others: []) }
  }

  private func explained(_ difference: Difference) -> Difference {
    guard let hash = difference.hash, let entity = difference.entity else { return difference }
    let others = versions.filter { $0.hashes[entity].map(hash.matches) ?? false }
    return Difference(
      entity: entity, hash: hash, isInVersion: difference.isInVersion, others: others.map(\.words))
  }

  /// Together they have exactly the given hashes; empty if there are none.
  private func merged(_ shown: ShownHashes) -> [Candidate] {
    guard shown.isWhole else { return [] }
    let hashes = Dictionary(shown.entries.map { ($0.entity, $0.hash) }) { first, _ in first }
    let parts = versions.filter { version in
      !version.hashes.isEmpty && version.hashes.allSatisfy { hashes[$0.key]?.matches($0.value) ?? false }
    }
    // Which versions belong to the same model isn't known here.
    let found = ManagedObjectModel.versions(
      having: Set(hashes.keys.map { $0 ?? "" }), in: parts.map { [Set($0.hashes.keys)] })
    return found.missing.isEmpty ? zip(parts, found.needed).filter { $0.1 != nil }.map(\.0) : []
  }
}
