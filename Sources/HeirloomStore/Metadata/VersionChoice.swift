import HeirloomFormats
package import HeirloomModel

/// A version whose hashes are those of a store.
package struct VersionCandidate: Sendable {
  /// The version's name; `nil` if it has none.
  package let name: String?
  /// The model.
  package let model: ManagedObjectModel
  /// True if somebody named this model for this store, as with `--model`.
  package let isGiven: Bool

  /// Creates a version.
  package init(name: String?, model: ManagedObjectModel, isGiven: Bool = false) {
    self.name = name
    self.model = model
    self.isGiven = isGiven
  }
}

/// The version that made a store, chosen among those with equal hashes.
///
/// Hashes leave out renaming identifiers and more that a mapping needs. These tell the versions apart, in this order: a
/// choice by hand, the version identifiers in the store's metadata, the store's own copy of its model, and the snapshot
/// beside it.
package struct VersionChoice: Sendable {
  /// The model.
  package let model: ManagedObjectModel
  /// The name of the version, or of the first one with these hashes if no version has the snapshot's content.
  package let name: String?
  /// True if the model is that of the snapshot.
  package let isSnapshot: Bool
  /// True if it is the model of a version that has a name.
  package let isNamed: Bool
  /// The names of all versions that fit and that nothing told apart, this one included; equal versions are among them.
  package let fitting: [String]
  /// The names of versions that fit as well and that nothing told apart, although their renamings differ.
  package let rivals: [String]

  /// Chooses among versions of equal hashes; `nil` if there is neither a version nor a snapshot.
  ///
  /// - Parameters:
  ///   - versions: The versions, the likeliest first.
  ///   - snapshot: The model of the snapshot, if it has these hashes.
  ///   - identifiers: The version identifiers of the store's metadata.
  ///   - cached: Reads the store's own copy of its model; asked only if the others leave several.
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

  /// Chooses among the models that fit a store, one of which may be its own copy.
  ///
  /// - Parameters:
  ///   - candidates: The models, the likeliest first; all were read and fit.
  ///   - identifiers: The version identifiers of the store's metadata.
  /// - Returns: One of them; `nil` if there are none.
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

  /// The words to say when nothing told several versions apart; `nil` otherwise.
  package var doubt: String? {
    guard !rivals.isEmpty else { return nil }
    let names = rivals.map { "\"\($0)\"" }.joined(separator: ", ")
    let taken = name.map { "\"\($0)\"" } ?? "the nearest one"
    return "nothing tells whether \(taken) or \(names) made the store: their hashes are equal, but not their renaming"
      + " identifiers, on which it may depend what was renamed; \(taken) was taken. The right one can be named: with --model, in an"
      + " app by the delegate"
  }

  /// Keeps the models that fit a description, if there are any.
  private static func narrow(_ models: inout [ManagedObjectModel], to fits: (ManagedObjectModel) -> Bool) {
    guard differ(models) else { return }
    let fitting = models.filter(fits)
    if !fitting.isEmpty { models = fitting }
  }

  private static func differ(_ models: [ManagedObjectModel]) -> Bool {
    models.dropFirst().contains { $0 != models.first }
  }

  /// Returns the models that agree with a store's copy in everything in which they differ from each other.
  ///
  /// The copy doesn't carry everything, and says some things in other words, such as a class's name with its module.
  /// In all of that it differs from each of the models. The result is `nil` if no model agrees.
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

  /// Returns the model as it is once it has been archived in a store.
  private static func archived(_ model: ManagedObjectModel) -> ManagedObjectModel? {
    guard let bytes = try? ModelArchiveWriter.archive(model) else { return nil }
    return try? ModelArchiveReader.read(bytes).model
  }
}

/// The content of a model, divided by what each part is about.
private struct ModelParts {
  /// The subject of a part.
  struct Key: Hashable {
    var entity: String?
    var property: String?
    /// True for a renaming identifier, which is a part of its own since it decides about mappings.
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

  /// The renaming identifiers.
  var renamings: [Key: AnyHashable] { parts.filter(\.key.isRenaming) }

  /// Returns the keys of the parts that are not the same in another model.
  func keysDiffering(from other: ModelParts) -> Set<Key> {
    Set(parts.keys).union(other.parts.keys).filter { parts[$0] != other.parts[$0] }
  }
}
