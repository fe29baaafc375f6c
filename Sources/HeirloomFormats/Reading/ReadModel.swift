package import HeirloomModel

/// A model with the warnings of reading its file.
package struct ReadModel: Hashable, Sendable {
  package var model: ManagedObjectModel
  /// In the order of the file.
  package var warnings: [ModelReadingWarning]

  package init(model: ManagedObjectModel, warnings: [ModelReadingWarning] = []) {
    self.model = model
    self.warnings = warnings
  }
}
