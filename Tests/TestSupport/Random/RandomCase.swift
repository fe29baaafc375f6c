/// A random model, changes made to it, and the resulting model: equal seeds give equal cases.
package struct RandomCase: Sendable {
  package let seed: UInt64
  package let source: RandomModel
  package let edits: [RandomEdit]
  package let destination: RandomModel
  /// Of each entity that has some.
  package let objects: Int

  package init(seed: UInt64) {
    var random = SplitMix64(seed: seed &* 0x9e37_79b9 &+ 1)
    // The kinds take turns; those that can't be combined freely come twice.
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
      // This model has no place for the change.
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
