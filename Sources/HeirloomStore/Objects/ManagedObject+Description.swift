import HeirloomModel

extension ManagedObject: CustomStringConvertible {
  /// The entity, the key and the first values in memory, on one line; the store isn't read.
  public var description: String {
    let name = key == 0 ? "\(entityName), not saved" : "\(entityName) p\(key)"
    if isDeleted { return "\(name), deleted" }
    guard isNew || row != nil else { return "\(name), not read yet" }
    let values = plan.attributes.enumerated().compactMap { slot, attribute -> String? in
      // Binary values may be large, or in files of their own.
      guard attribute.description.type != .binary, attribute.description.type != .transformable,
        let value = try? value(ofSlot: slot)
      else { return nil }
      return "\(attribute.path): \(PlainText.line("\(value)", limit: 60))"
    }
    let more = values.count > 8 ? ", …" : ""
    return values.isEmpty ? name : "\(name) (\(values.prefix(8).joined(separator: ", "))\(more))"
  }
}

extension ManagedObjectID: CustomStringConvertible {
  /// The identifier as Core Data writes it.
  public var description: String { uriRepresentation }
}
