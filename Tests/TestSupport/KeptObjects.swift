package import HeirloomMapping
package import HeirloomModel
package import HeirloomTesting

/// A comparison of a store before and after a migration by the promises of the mapping.
package enum KeptObjects {
  /// At most one line for each property.
  package static func differences(
    before: StoreContents, source: ManagedObjectModel, after: StoreContents, destination: ManagedObjectModel,
    mapping: MappingModel
  ) -> [String] {
    ExpectedContents(before, of: source).migrated(from: source, to: destination, by: mapping).findings(in: after)
      .map(\.message)
  }
}
