package import HeirloomMapping
package import HeirloomModel
package import HeirloomTesting

/// A comparison of a store before and after a migration by the promises of the mapping.
package enum KeptObjects {
  /// Lists the differences from what a migration must keep, at most one line for each property.
  ///
  /// - Parameters:
  ///   - before: The store before.
  ///   - source: Its model.
  ///   - after: The store after.
  ///   - destination: Its model.
  ///   - mapping: The mapping that was carried out.
  /// - Returns: The differences; none if all is well.
  package static func differences(
    before: StoreContents, source: ManagedObjectModel, after: StoreContents, destination: ManagedObjectModel,
    mapping: MappingModel
  ) -> [String] {
    ExpectedContents(before, of: source).migrated(from: source, to: destination, by: mapping).findings(in: after)
      .map(\.message)
  }
}
