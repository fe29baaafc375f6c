/// A random model, changes made to it, and the model that comes of them: equal seeds give equal cases.
package struct RandomCase: Sendable {
  /// Tells the case from all others.
  package let seed: UInt64
  /// The model before.
  package let source: RandomModel
  /// What was changed, in order.
  package let edits: [RandomEdit]
  /// The model after.
  package let destination: RandomModel
  /// Objects of entities that have some.
  package let objects: Int

  /// Makes a case.
  package init(seed: UInt64) {
    var random = SplitMix64(seed: seed &* 0x9e37_79b9 &+ 1)
    // The kinds take turns; those that are not combined freely come twice.
    let kinds = RandomEdit.allCases + RandomEdit.allCases.filter { !$0.isHarmless }
    let wanted = kinds[Int(seed % UInt64(kinds.count))]
    var source = RandomModel(using: &random)
    var destination = source
    var edits: [RandomEdit] = []
    for _ in 0..<12 {
      if wanted.apply(to: &destination, using: &random) {
        edits.append(wanted)
        break
      }
      // There is no place for it in this model.
      source = RandomModel(using: &random)
      destination = source
    }
    let others = RandomEdit.allCases.filter { $0.isHarmless || random.below(8) == 0 }
    for _ in 0..<random.below(6) {
      let edit = random.below(5) == 0 ? wanted : others[random.below(others.count)]
      if edit.apply(to: &destination, using: &random) { edits.append(edit) }
    }
    self.seed = seed
    self.source = source
    self.edits = edits
    self.destination = destination
    objects = [0, 1, 6, 12][random.below(4)]
  }
}
