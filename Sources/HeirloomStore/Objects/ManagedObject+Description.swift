import HeirloomModel

extension ManagedObject: CustomStringConvertible {
  /// One line: the entity, the key and the first values in memory; nothing is read from the store for it.
  public var description: String {
    let name = key == 0 ? "\(entityName), not saved" : "\(entityName) p\(key)"
    if isDeleted { return "\(name), deleted" }
    guard isNew || row != nil else { return "\(name), not read yet" }
    let values = plan.attributes.enumerated().compactMap { slot, attribute -> String? in
      // What is large may be in a file of its own.
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
