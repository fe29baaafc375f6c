package import HeirloomModel

/// A model with what its file said that could not be understood.
package struct ReadModel: Hashable, Sendable {
  /// The model.
  package var model: ManagedObjectModel
  /// What was left out, in the order of the file.
  package var warnings: [ModelReadingWarning]

  /// Creates a result.
  package init(model: ManagedObjectModel, warnings: [ModelReadingWarning] = []) {
    self.model = model
    self.warnings = warnings
  }
}
