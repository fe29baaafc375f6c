/// Says which keys objects have after trees of entities came under one root.
///
/// Of several trees the one whose entity is nearest the root keeps its keys, by name where that doesn't decide; each other's
/// are moved above those that are taken.
package struct MergedKeys {
  /// A source entity that goes on.
  package struct Member {
    let sourceRoot: String
    let destinationRoot: String
    /// The destination's ancestors of what the entity becomes.
    let depth: Int
    /// How many objects it has.
    let objects: Int

    /// Creates a member.
    package init(sourceRoot: String, destinationRoot: String, depth: Int, objects: Int) {
      self.sourceRoot = sourceRoot
      self.destinationRoot = destinationRoot
      self.depth = depth
      self.objects = objects
    }
  }

  private var offsets: [[String]: Int64] = [:]

  /// Works out the offsets; `highest` are the highest keys of the source's trees, by their roots.
  package init(_ members: [Member], highest: [String: Int64]) {
    for (destinationRoot, members) in Dictionary(grouping: members, by: \.destinationRoot) {
      let trees = Dictionary(grouping: members, by: \.sourceRoot).sorted { first, second in
        let (upper, lower) = (first.value.map(\.depth).min() ?? 0, second.value.map(\.depth).min() ?? 0)
        return (upper, first.key) < (lower, second.key)
      }
      guard let home = trees.first else { continue }
      var next = highest[home.key] ?? 0
      var isTaken = home.value.contains { $0.objects > 0 }
      for (root, members) in trees.dropFirst() where members.contains(where: { $0.objects > 0 }) {
        let own = highest[root] ?? 0
        offsets[[root, destinationRoot]] = isTaken ? next : 0
        next = isTaken ? next + own : max(next, own)
        isTaken = true
      }
    }
  }

  /// Returns the key of an object afterwards.
  package func key(_ key: Int64, from sourceRoot: String, to destinationRoot: String) -> Int64 {
    key + offsets[[sourceRoot, destinationRoot], default: 0]
  }
}
