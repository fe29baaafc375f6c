package import HeirloomModel

/// A model with the warnings of reading its file.
package struct ReadModel: Hashable, Sendable {
  /// The model.
  package var model: ManagedObjectModel
  /// The warnings about omitted parts, in the order of the file.
  package var warnings: [ModelReadingWarning]

  /// Creates a result.
  package init(model: ManagedObjectModel, warnings: [ModelReadingWarning] = []) {
    self.model = model
    self.warnings = warnings
  }
}
