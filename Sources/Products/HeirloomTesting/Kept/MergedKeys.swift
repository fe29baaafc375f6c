/// The primary keys of objects after entity trees were merged under one root.
///
/// The tree whose entity is nearest to the root keeps its keys; among equals, the first by name.
/// The keys of each other tree are moved above the keys in use.
package struct MergedKeys {
  /// A source entity that is kept.
  package struct Member {
    let sourceRoot: String
    let destinationRoot: String
    /// The number of the destination entity's ancestors.
    let depth: Int
    let objects: Int

    package init(sourceRoot: String, destinationRoot: String, depth: Int, objects: Int) {
      self.sourceRoot = sourceRoot
      self.destinationRoot = destinationRoot
      self.depth = depth
      self.objects = objects
    }
  }

  private var offsets: [[String]: Int64] = [:]

  /// `highest` has the highest key of each source tree, by its root.
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

  package func key(_ key: Int64, from sourceRoot: String, to destinationRoot: String) -> Int64 {
    key + offsets[[sourceRoot, destinationRoot], default: 0]
  }
}
