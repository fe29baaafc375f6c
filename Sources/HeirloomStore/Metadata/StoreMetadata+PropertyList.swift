package import HeirloomFormats
import HeirloomModel

extension StoreMetadata {
  package init(propertyList: [UInt8], identifier: String, path: String) throws(StoreError) {
    func invalid(_ reason: String) -> StoreError {
      StoreError(path: path, problem: .invalidMetadata(reason: reason))
    }
    let list: PropertyListValue
    do throws(FormatError) {
      list = try BinaryPropertyListReader(propertyList).value()
    } catch {
      throw invalid(error.description)
    }
    guard var values = list.dictionaryValue else { throw invalid("the property list is not a dictionary.") }
    guard let stored = values.removeValue(forKey: PhysicalName.versionHashesKey) else {
      throw StoreError(path: path, problem: .missingVersionHashes)
    }
    guard let hashes = stored.dictionaryValue else { throw invalid("the version hashes are not a dictionary.") }
    versionHashes = [:]
    versionHashes.reserveCapacity(hashes.count)
    for (name, value) in hashes {
      guard let bytes = value.dataValue, let hash = try? VersionHash(bytes) else {
        throw invalid("the version hash of entity \"\(name)\" is not data of \(VersionHash.byteCount) bytes.")
      }
      versionHashes[name] = hash
    }
    self.identifier = identifier
    // Values of an unexpected kind stay where they are, and are written back unchanged.
    versionIdentifiers =
      Self.take(PhysicalName.versionIdentifiersKey, from: &values) { value in
        guard let elements = value.arrayValue else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
      } ?? []
    versionHashesDigest = Self.take(PhysicalName.versionHashesDigestKey, from: &values, as: \.stringValue)
    versionChecksum = Self.take(PhysicalName.versionChecksumKey, from: &values, as: \.stringValue)
    frameworkVersion =
      Self.take(PhysicalName.frameworkVersionKey, from: &values) { value in
        value.integerValue.flatMap { Int(exactly: $0) }
      } ?? 0
    generation = Self.take(PhysicalName.generationKey, from: &values, as: \.stringValue)
    deferredMigration = DeferredMigration.listed(in: values)
    // Without Core Data's key, the list is out of date. With the list, the key belongs to it.
    values[PhysicalName.deferredWorkKey] = nil
    if deferredMigration != nil { values[PhysicalName.deferredMigrationKey] = nil }
    otherValues = values
  }

  private static func take<Value>(
    _ key: String, from values: inout [String: PropertyListValue], as convert: (PropertyListValue) -> Value?
  ) -> Value? {
    guard let value = values[key].flatMap(convert) else { return nil }
    values[key] = nil
    return value
  }

  /// Equal metadata give equal bytes; throws if a value of the app is nested too deeply.
  package func propertyList() throws(FormatError) -> [UInt8] {
    var values = otherValues
    values[PhysicalName.versionHashesKey] = .dictionary(versionHashes.mapValues { .data($0.bytes) })
    values[PhysicalName.versionIdentifiersKey] = .array(versionIdentifiers.map { .string($0) })
    values[PhysicalName.frameworkVersionKey] = .integer(Int64(frameworkVersion))
    if let versionHashesDigest { values[PhysicalName.versionHashesDigestKey] = .string(versionHashesDigest) }
    if let versionChecksum { values[PhysicalName.versionChecksumKey] = .string(versionChecksum) }
    if let generation { values[PhysicalName.generationKey] = .string(generation) }
    if let deferredMigration, !deferredMigration.isEmpty {
      values[PhysicalName.deferredMigrationKey] = .boolean(true)
      values[PhysicalName.deferredWorkKey] = deferredMigration.propertyListValue
    }
    return try BinaryPropertyListWriter.bytes(of: .dictionary(values))
  }
}
