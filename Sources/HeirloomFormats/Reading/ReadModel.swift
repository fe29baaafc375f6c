package import HeirloomModel

/// A model with the parts of its file that could not be understood.
package struct ReadModel: Hashable, Sendable {
  /// The model.
  package var model: ManagedObjectModel
  /// The warnings about what was left out, in the order of the file.
  package var warnings: [ModelReadingWarning]

  /// Creates a result.
  package init(model: ManagedObjectModel, warnings: [ModelReadingWarning] = []) {
    self.model = model
    self.warnings = warnings
  }
}
