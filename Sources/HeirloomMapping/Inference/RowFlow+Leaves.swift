package import HeirloomModel

extension RowFlow {
  /// Lists the stored leaves that are copied unchanged, NULL included, by their paths.
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
