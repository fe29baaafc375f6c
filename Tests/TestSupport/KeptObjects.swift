package import HeirloomMapping
package import HeirloomModel
package import HeirloomTesting

/// Compares a store before and after a migration by what the mapping promises.
package enum KeptObjects {
  /// Lists what a migration did not keep, at most a line for each property.
  ///
  /// - Parameters:
  ///   - before: The store before.
  ///   - source: Its model.
  ///   - after: The store after.
  ///   - destination: Its model.
  ///   - mapping: What was carried out.
  /// - Returns: Nothing if all is well.
  package static func differences(
    before: StoreContents, source: ManagedObjectModel, after: StoreContents, destination: ManagedObjectModel,
    mapping: MappingModel
  ) -> [String] {
    ExpectedContents(before, of: source).migrated(from: source, to: destination, by: mapping).findings(in: after)
      .map(\.message)
  }
}
