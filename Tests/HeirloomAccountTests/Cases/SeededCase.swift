import Foundation
import TestSupport

/// A store of a small model and a next version: equal seeds give equal cases.
struct SeededCase {
  let seed: UInt64
  let source: XMLModel
  let destination: XMLModel
  let edits: [SeededEdit]
  let damage: Set<SeededDamage.Kind>
  /// The most objects of an entity.
  let rows: Int
  let random: SplitMix64

  /// The attribute that tells objects apart, which no change and no damage takes.
  static let mark = "serial"

  /// With `isMarked`, each object has a number of its own in ``mark``.
  init(
    seed: UInt64, kinds: [SeededEdit] = SeededEdit.allCases, isMarked: Bool = false,
    without excluded: Set<SeededDamage.Kind> = []
  ) {
    var random = SplitMix64(seed: seed &* 0x2545_f491 &+ 3)
    var source = XMLModel(using: &random)
    for index in source.entities.indices where isMarked && source.entities[index].parent == nil {
      source.entities[index].attributes.append(
        XMLModel.Attribute(name: Self.mark, identifier: Self.mark, type: "Integer 64"))
    }
    var destination = source
    var edits: [SeededEdit] = []
    for _ in 0..<1 + random.below(4) {
      // A kind that has no place in this model gives way to another one.
      for _ in 0..<8 {
        let edit = kinds[random.below(kinds.count)]
        guard edit.apply(to: &destination, using: &random) else { continue }
        edits.append(edit)
        break
      }
    }
    var damage: Set<SeededDamage.Kind> = []
    for kind in SeededDamage.Kind.allCases where random.below(3) == 0 { damage.insert(kind) }
    damage.subtract(excluded)
    self.seed = seed
    (self.source, self.destination, self.edits, self.damage) = (source, destination, edits, damage)
    rows = [0, 2, 5, 5, 9][random.below(5)]
    self.random = random
  }

  func makeStore(at url: URL, in directory: TemporaryDirectory) throws {
    var random = random
    try ModelFolder(source, named: "source", in: directory).makeEmptyStore(at: url)
    let store = try SeededStore(source, emptyStoreAt: url.path, rows: rows, random: random)
    _ = random.next()
    try SeededDamage(path: url.path, model: source, kinds: damage).make(store, using: &random)
  }
}
