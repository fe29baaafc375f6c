package import HeirloomModel
package import HeirloomStore

// The entity numbers that other rows, or the table itself, tell better: see `NumberCorrection`.
extension Connection {
  /// Corrects the entity numbers of the main database.
  ///
  /// - Parameters:
  ///   - model: The store's model.
  ///   - path: The store's file, for messages.
  /// - Returns: A clause for each column that was corrected.
  /// - Throws: `SQLiteError`, or `StoreError`.
  package func correctNumbers(by model: ManagedObjectModel, path: String) throws -> [String] {
    let actual = try ActualSchema(of: self)
    let metadata = try StoreMetadata(connection: self, path: path)
    let schema = PhysicalSchema(
      model: model, configuration: metadata.configuration(of: model, heldBy: actual) ?? nil, actual: actual)
    var words: [String] = []
    for correction in schema.numberCorrections where actual.table(named: correction.table) != nil {
      try execute(correction.sql)
      if changes > 0 { words.append(correction.words(changes)) }
    }
    return words
  }
}
