package import HeirloomModel

extension StoreMetadata {
  /// `.some(nil)` is the whole model; `nil` if the store wasn't made with it.
  ///
  /// Metadata name all entities of the model; only the store's tables show which of them it holds.
  package func configuration(of model: ManagedObjectModel, heldBy actual: ActualSchema) -> String?? {
    guard names(model) else {
      return model.configurations.map(\.name).first { names(model, configuration: $0) }.map { .some($0) }
    }
    func tables(_ configuration: String?) -> Set<String> {
      let all = PhysicalSchema(model: model, configuration: configuration).tables
      return Set(all.compactMap { if case .objects = $0.kind { $0.name } else { nil } })
    }
    guard !model.configurations.isEmpty else { return .some(nil) }
    let whole = tables(nil)
    let held = whole.filter { actual.table(named: $0) != nil }
    guard held != whole else { return .some(nil) }
    let fitting = model.configurations.map(\.name).filter { tables($0) == held }
    // Subentities are in their root's table, and its columns show which. A table that is missing for another reason has
    // to be reported.
    let exact = fitting.first {
      actual.drift(from: PhysicalSchema(model: model, configuration: $0, actual: actual)).isEmpty
    }
    return .some(exact ?? (fitting.count == 1 ? fitting.first : nil))
  }
}
