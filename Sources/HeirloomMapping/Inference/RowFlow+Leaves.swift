package import HeirloomModel

extension RowFlow {
  /// Lists the cells that go on from row to row, with no value for those that have none.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  /// - Returns: The path of each stored leaf in the destination's entity, with its path in the source's.
  package func carriedLeaves(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [(source: [String], destination: [String])] {
    destination.attributes(of: self.destination.name).filter { $0.derivation == nil }.flatMap { attribute in
      let targets = targets(in: attribute, of: destination)
      return targets.flatMap { target -> [(source: [String], destination: [String])] in
        guard let name = origin(of: target.name).name, !filled.contains(target.name), steps[target.name] == nil else {
          return []
        }
        return leaves(of: target, among: targets, from: source.attribute(named: name, of: self.source.name)).leaves
          .compactMap { leaf in
            let isFilled = !leaf.isOptional && leaf.isSourceOptional && leaf.leaf.defaultValue != nil
            return isFilled ? nil : leaf.sourcePath.map { ($0, leaf.path) }
          }
      }
    }
  }
}
