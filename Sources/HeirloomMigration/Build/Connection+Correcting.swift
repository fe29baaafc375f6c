package import HeirloomModel
package import HeirloomStore

// Entity numbers that other rows or the table itself contradict are corrected: see `NumberCorrection`.
extension Connection {
  /// Returns a clause for each column that was corrected; `path` is only for messages.
  package func correctNumbers(by model: ManagedObjectModel, path: String) throws -> [String] {
    var words: [String] = []
    for correction in try numberCorrections(by: model, path: path) {
      try execute(correction.sql)
      if changes > 0 { words.append(correction.words(changes)) }
    }
    return words
  }

  func hasNumbersToCorrect(by model: ManagedObjectModel, path: String) throws -> Bool {
    for correction in try numberCorrections(by: model, path: path) {
      let rows = "\(quote(correction.table)) AS t NOT INDEXED WHERE \(correction.condition())"
      if try firstInteger("SELECT 1 FROM \(rows) LIMIT 1") != nil { return true }
    }
    return false
  }

  private func numberCorrections(by model: ManagedObjectModel, path: String) throws -> [NumberCorrection] {
    let actual = try ActualSchema(of: self)
    let metadata = try StoreMetadata(connection: self, path: path)
    let schema = PhysicalSchema(
      model: model, configuration: metadata.configuration(of: model, heldBy: actual) ?? nil, actual: actual)
    return schema.numberCorrections.filter { actual.table(named: $0.table) != nil }
  }
}
