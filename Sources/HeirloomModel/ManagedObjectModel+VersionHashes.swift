extension ManagedObjectModel {
  /// Returns the version hash of every entity, as Core Data computes it (hashes version 3).
  ///
  /// The algorithm is on the page "Version hashes" of the documentation. Only the stored shape is hashed, not class
  /// names, defaults, renaming identifiers, indexes, delete rules, validation, user info and transient properties.
  ///
  /// - Returns: One hash for each entity, abstract ones included, by entity name.
  /// - Complexity: O(1); the hashes are computed when the model is created.
  public func versionHashes() -> [String: VersionHash] { hashes }

  func computedVersionHashes() -> [String: VersionHash] {
    var hasher = EntityHasher(model: self)
    return Dictionary(uniqueKeysWithValues: entities.map { ($0.name, hasher.hash(of: $0)) })
  }

  /// Computes the model's version checksum.
  ///
  /// It is `NSManagedObjectModel_VersionChecksums` in `VersionInfo.plist` and `NSStoreModelVersionChecksumKey` in
  /// stores.
  ///
  /// - Returns: Base64 text of 44 characters.
  public func versionChecksum() -> String {
    Self.versionChecksum(of: versionHashes())
  }

  /// Computes the version checksum of the given hashes.
  ///
  /// - Parameter hashes: Hashes by entity name.
  /// - Returns: Base64 text of 44 characters.
  public static func versionChecksum(of hashes: [String: VersionHash]) -> String {
    SHA256.digest(sortedByName(hashes).flatMap(\.value.bytes)).base64
  }

  /// Computes the digest of version hashes that stores contain as `NSStoreModelVersionHashesDigest`.
  ///
  /// - Parameter hashes: Hashes by entity name.
  /// - Returns: Base64 text of 88 characters.
  public static func versionHashesDigest(of hashes: [String: VersionHash]) -> String {
    SHA512.digest(sortedByName(hashes).flatMap { Array($0.key.utf8) + $0.value.bytes }).base64
  }

  private static func sortedByName(_ hashes: [String: VersionHash]) -> [(key: String, value: VersionHash)] {
    hashes.ordered { $0.key }
  }
}

private struct EntityHasher {
  let model: ManagedObjectModel
  private var entityHashes: [String: VersionHash] = [:]
  private var propertyHashes: [String: [(name: String, hash: VersionHash)]] = [:]

  init(model: ManagedObjectModel) {
    self.model = model
  }

  mutating func hash(of entity: EntityDescription) -> VersionHash {
    if let known = entityHashes[entity.name] { return known }
    let parent = entity.superentity.flatMap { model.entity(named: $0) }
    let parentHash = parent.map { hash(of: $0) }
    let lineage = [entity] + model.superentities(of: entity.name)
    var properties: [(name: String, hash: VersionHash)] = []
    for ancestor in lineage { properties += ownPropertyHashes(of: ancestor) }
    properties = properties.ordered(by: \.name)
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      .ordered()

    let result = VersionHash { digest in
      digest.update(entity.name)
      digest.update(littleEndian: UInt8(entity.isAbstract ? 1 : 0))
      if let parentHash { digest.update(parentHash.bytes) }
      for property in properties { digest.update(property.hash.bytes) }
      if let modifier = entity.versionHashModifier { digest.update(modifier) }
      for constraint in constraints { digest.update(constraint) }
    }
    entityHashes[entity.name] = result
    return result
  }

  private mutating func ownPropertyHashes(of entity: EntityDescription) -> [(name: String, hash: VersionHash)] {
    if let known = propertyHashes[entity.name] { return known }
    var hashes: [(name: String, hash: VersionHash)] = []
    for attribute in entity.attributes where !attribute.isTransient {
      hashes.append((attribute.name, Self.hash(of: attribute)))
    }
    for relationship in entity.relationships where !relationship.isTransient {
      hashes.append((relationship.name, hash(of: relationship, declaredBy: entity)))
    }
    propertyHashes[entity.name] = hashes
    return hashes
  }

  private static func hash(of attribute: AttributeDescription) -> VersionHash {
    if let derivation = attribute.derivation {
      return VersionHash { digest in
        digest.update(derivation.derivationExpression.hashFormat)
        if let filter = derivation.filteringPredicate { digest.update(filter.hashFormat) }
      }
    }
    if attribute.composite != nil {
      let leaves = attribute.storedLeaves.ordered(by: \.name)
      return VersionHash { digest in
        for leaf in leaves { digest.update(hash(of: leaf).bytes) }
      }
    }
    let common = commonHash(of: attribute)
    return VersionHash { digest in
      digest.update(common.bytes)
      digest.update(littleEndian: Int32(truncatingIfNeeded: attribute.type.rawValue))
      if attribute.allowsExternalBinaryDataStorage { digest.update(littleEndian: UInt8(1)) }
      if attribute.preservesValueInHistoryOnDeletion { digest.update(littleEndian: UInt8(1)) }
    }
  }

  private func hash(of relationship: RelationshipDescription, declaredBy entity: EntityDescription) -> VersionHash {
    let common = Self.commonHash(of: relationship)
    let inverse = model.inverse(of: relationship)
    let isOwnInverse = inverse.map { $0.relationship.name == relationship.name && $0.entity.name == entity.name }
    return VersionHash { digest in
      digest.update(common.bytes)
      digest.update(relationship.destinationEntity)
      if let inverse, isOwnInverse == false { digest.update(inverse.relationship.name) }
      digest.update(littleEndian: Int32(truncatingIfNeeded: relationship.maxCount))
      digest.update(littleEndian: Int32(truncatingIfNeeded: relationship.minCount))
      if relationship.isOrdered { digest.update(littleEndian: UInt16(1)) }
    }
  }

  private static func commonHash(of property: some PropertyDescription) -> VersionHash {
    // Bit 4, read-only, is set only for derived attributes, which are hashed by their expression.
    let flags = UInt16(property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0)
    return VersionHash { digest in
      digest.update(property.name)
      digest.update(littleEndian: flags)
      if let modifier = property.versionHashModifier { digest.update(modifier) }
    }
  }
}
