import HeirloomFormats
package import HeirloomModel

package struct VersionCandidate: Sendable {
  package let name: String?
  package let model: ManagedObjectModel
  /// Explicitly named for this store, as with `--model`.
  package let isGiven: Bool

  package init(name: String?, model: ManagedObjectModel, isGiven: Bool = false) {
    self.name = name
    self.model = model
    self.isGiven = isGiven
  }
}

/// Chosen among versions with equal hashes, which leave out renaming identifiers.
///
/// They are distinguished, in this order, by an explicit choice, the version identifiers in the
/// store's metadata, the store's own copy of its model, and the snapshot beside it.
package struct VersionChoice: Sendable {
  package let model: ManagedObjectModel
  /// The name of the version, or of the first one with these hashes if no version has the snapshot's content.
  package let name: String?
  package let isSnapshot: Bool
  package let isNamed: Bool
  /// All versions that fit and can't be distinguished, this one and equal versions included.
  package let fitting: [String]
  /// Other versions that fit and can't be distinguished, although their renamings differ.
  package let rivals: [String]

  /// The versions are sorted, most likely first; the snapshot must have these hashes.
  ///
  /// `cached` is called only if the other criteria leave several versions.
  package init?(
    among versions: [VersionCandidate], snapshot: ManagedObjectModel? = nil, identifiers: [String],
    cached: () -> ManagedObjectModel?
  ) {
    var models = versions.map(\.model)
    if let snapshot { models.append(snapshot) }
    let given = versions.filter(\.isGiven).map(\.model)
    Self.narrow(&models) { given.contains($0) }
    if !identifiers.allSatisfy(\.isEmpty) {
      Self.narrow(&models) { Set($0.versionIdentifiers) == Set(identifiers) }
    }
    if Self.differ(models), let told = cached().flatMap({ Self.told(by: $0, among: models) }) { models = told }
    Self.narrow(&models) { $0 == snapshot }
    guard let model = models.first else { return nil }
    let namesake = versions.first { $0.name != nil && $0.model == model }
    self.model = model
    name = namesake?.name ?? versions.lazy.compactMap(\.name).first
    isNamed = namesake != nil
    isSnapshot = model == snapshot
    let named = namesake == nil ? versions : versions.filter { models.contains($0.model) }
    fitting = (named.contains(where: \.isGiven) ? named.filter(\.isGiven) : named).compactMap(\.name)
    let renamings = ModelParts(of: model).renamings
    rivals = versions.filter { version in
      version.model != model && models.contains(version.model) && ModelParts(of: version.model).renamings != renamings
    }.compactMap(\.name)
  }

  /// Sorted, most likely first.
  package static func candidate(
    of candidates: [StoreModelCandidate], identifiers: [String]
  ) -> StoreModelCandidate? {
    let versions = candidates.compactMap { candidate -> VersionCandidate? in
      guard case .file(let name) = candidate.source, let model = candidate.model else { return nil }
      return VersionCandidate(name: name, model: model, isGiven: candidate.isGiven)
    }
    let snapshot = candidates.first { $0.source == .snapshot }?.model
    let cache = candidates.first { $0.source == .cache }
    let choice = VersionChoice(among: versions, snapshot: snapshot, identifiers: identifiers) { cache?.model }
    return choice.flatMap { choice in candidates.first { $0.model == choice.model } } ?? cache
  }

  package var doubt: String? {
    guard !rivals.isEmpty else { return nil }
    let names = rivals.map { "\"\($0)\"" }.joined(separator: ", ")
    let taken = name.map { "\"\($0)\"" } ?? "the nearest one"
    return "it is unknown whether \(taken) or \(names) made the store: their hashes are equal, but their renaming"
      + " identifiers differ, which may change what counts as renamed; \(taken) is used. Name the right one with --model, in"
      + " an app by the delegate"
  }

  /// Keeps all models if none fits.
  private static func narrow(_ models: inout [ManagedObjectModel], to fits: (ManagedObjectModel) -> Bool) {
    guard differ(models) else { return }
    let fitting = models.filter(fits)
    if !fitting.isEmpty { models = fitting }
  }

  private static func differ(_ models: [ManagedObjectModel]) -> Bool {
    models.dropFirst().contains { $0 != models.first }
  }

  /// Those that agree with the store's copy in everything in which they differ from each other.
  ///
  /// The copy doesn't contain everything, and represents some things differently, such as a class's
  /// name with its module. In all of that it differs from each of the models.
  private static func told(by copy: ManagedObjectModel, among models: [ManagedObjectModel]) -> [ManagedObjectModel]? {
    guard copy.versionHashes() == models.first?.versionHashes(), let copy = archived(copy).map(ModelParts.init) else {
      return nil
    }
    let parts = models.map { archived($0).map(ModelParts.init) }
    let known = parts.compactMap(\.self)
    guard known.count == models.count else { return nil }
    let differing = known.reduce(into: Set<ModelParts.Key>()) { keys, other in
      keys.formUnion(other.keysDiffering(from: known[0]))
    }
    let fitting = zip(models, known).filter { differing.isDisjoint(with: $0.1.keysDiffering(from: copy)) }.map(\.0)
    return fitting.isEmpty || differing.isEmpty ? nil : fitting
  }

  private static func archived(_ model: ManagedObjectModel) -> ManagedObjectModel? {
    guard let bytes = try? ModelArchiveWriter.archive(model) else { return nil }
    return try? ModelArchiveReader.read(bytes).model
  }
}

private struct ModelParts {
  struct Key: Hashable {
    var entity: String?
    var property: String?
    /// A part of its own, because mappings depend on it.
    var isRenaming = false
  }

  private var parts: [Key: AnyHashable] = [:]

  init(of model: ManagedObjectModel) {
    // No identifier and one that is empty are the same.
    parts[Key(property: "identifiers")] = AnyHashable(model.versionIdentifiers.filter { !$0.isEmpty })
    parts[Key(property: "configurations")] = AnyHashable(model.configurations)
    parts[Key(property: "templates")] = AnyHashable(model.fetchRequestTemplates)
    for entity in model.entities {
      var bare = entity
      (bare.attributes, bare.relationships, bare.fetchedProperties, bare.renamingIdentifier) = ([], [], [], nil)
      parts[Key(entity: entity.name)] = AnyHashable(bare)
      parts[Key(entity: entity.name, isRenaming: true)] = AnyHashable(entity.canonicalIdentifier)
      for var attribute in entity.attributes {
        add(attribute, of: entity)
        attribute.renamingIdentifier = nil
        parts[Key(entity: entity.name, property: attribute.name)] = AnyHashable(attribute)
      }
      for var relationship in entity.relationships {
        add(relationship, of: entity)
        relationship.renamingIdentifier = nil
        parts[Key(entity: entity.name, property: relationship.name)] = AnyHashable(relationship)
      }
      for var fetched in entity.fetchedProperties {
        add(fetched, of: entity)
        fetched.renamingIdentifier = nil
        parts[Key(entity: entity.name, property: fetched.name)] = AnyHashable(fetched)
      }
    }
  }

  private mutating func add(_ property: some PropertyDescription, of entity: EntityDescription) {
    parts[Key(entity: entity.name, property: property.name, isRenaming: true)] =
      AnyHashable(property.canonicalIdentifier)
  }

  var renamings: [Key: AnyHashable] { parts.filter(\.key.isRenaming) }

  func keysDiffering(from other: ModelParts) -> Set<Key> {
    Set(parts.keys).union(other.parts.keys).filter { parts[$0] != other.parts[$0] }
  }
}
