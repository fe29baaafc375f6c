import HeirloomFormats
import HeirloomModel

/// An XML element or a JSON value that two branches edited, matched by kind and name.
struct MergeNode: Hashable {
  /// Unique within the parent.
  struct Key: Hashable {
    let kind: String
    let name: String
  }

  /// Such as an attribute of an XML element.
  struct Setting: Hashable {
    let name: String
    let value: String
  }

  indirect enum Form: Hashable {
    case element
    /// Text or a comment in XML, unchanged.
    case text(String)
    /// Its members are the children.
    case object
    /// Its elements are the children.
    case list
    case value(JSONValue)
    /// Could not be merged; `nil` for a branch that removed it.
    case conflict(ours: MergeNode?, theirs: MergeNode?)
  }

  let key: Key
  var form: Form
  var settings: [Setting] = []
  var children: [MergeNode] = []
  /// The other branch's, if the settings could not be merged.
  var settingsOfTheirs: [Setting]?
  /// True if edits inside it are not merged: two branches that edit a property conflict.
  var isWhole = true
  /// True for editor settings, such as a position in the diagram, which never cause a conflict.
  var isIncidental = false
  var formerName: String?

  /// True for a mere list of other parts.
  var isContainer: Bool { !isWhole && key.name.isEmpty && settings.isEmpty && key.kind != "model" }
}

/// A part that two branches edited differently.
package struct MergeConflict: Hashable, Sendable {
  /// Such as `entity "Item", attribute "note"`.
  package let place: String
  package let reason: String

  package init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }
}

struct ThreeWayMerge {
  private(set) var conflicts: [MergeConflict] = []

  /// `nil` is a part that doesn't exist; `place` has the names of the enclosing parts.
  mutating func merged(
    _ base: MergeNode?, _ ours: MergeNode?, _ theirs: MergeNode?, in place: [String] = []
  ) -> MergeNode? {
    if ours == theirs || theirs == base { return ours }
    if ours == base { return theirs }
    if let one = ours ?? theirs, one.isContainer, ours == nil || theirs == nil {
      // A missing list is equivalent to an empty one.
      var (empty, all) = (one, one)
      empty.children = []
      all = merged(base ?? empty, ours ?? empty, theirs ?? empty, in: place) ?? empty
      return all.children.isEmpty ? nil : all
    }
    guard let ours, let theirs else {
      if base?.isIncidental == true { return nil }
      let reason = ours == nil ? "ours removes it, theirs changes it" : "ours changes it, theirs removes it"
      return conflict(ours, theirs, place, reason)
    }
    let isIncidental = ours.isIncidental && theirs.isIncidental
    guard !ours.isWhole, !theirs.isWhole, ours.form == theirs.form || isIncidental else {
      return conflict(ours, theirs, place, base == nil ? "both add it differently" : "both change it")
    }
    var result = ours
    mergeSettings(base?.settings ?? [], ours, theirs, &result, place)
    let lists = [base?.children ?? [], ours.children, theirs.children]
    guard lists.allSatisfy({ Set($0.map(\.key)).count == $0.count }) else {
      return conflict(ours, theirs, place, "it has several parts with the same name, and both change it")
    }
    result.children = mergedChildren(lists[0], lists[1], lists[2], place)
    return result
  }

  private mutating func conflict(
    _ ours: MergeNode?, _ theirs: MergeNode?, _ place: [String], _ reason: String
  ) -> MergeNode? {
    conflicts.append(MergeConflict(place: place.isEmpty ? "the file" : place.joined(separator: ", "), reason: reason))
    return (ours ?? theirs).map { MergeNode(key: $0.key, form: .conflict(ours: ours, theirs: theirs)) }
  }

  // MARK: - Settings

  /// Tools write them with each save.
  private static let incidental: Set<String> = ["lastSavedToolsVersion", "systemVersion"]

  private mutating func mergeSettings(
    _ base: [MergeNode.Setting], _ ours: MergeNode, _ theirs: MergeNode, _ result: inout MergeNode, _ place: [String]
  ) {
    func values(_ settings: [MergeNode.Setting]) -> [String: String] {
      Dictionary(settings.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    let (before, left, right) = (values(base), values(ours.settings), values(theirs.settings))
    var kept: [String: String] = [:]
    var isUnclear = false
    for name in Set(left.keys).union(right.keys).ordered() {
      let (old, a, b) = (before[name], left[name], right[name])
      if a == b || b == old {
        kept[name] = a
      } else if a == old {
        kept[name] = b
      } else if let a, let b, ours.isIncidental || Self.incidental.contains(name) {
        kept[name] = NaturalOrder.precedes(a, b) ? b : a
      } else {
        isUnclear = true
        conflicts.append(
          MergeConflict(place: (place + ["\"\(name)\""]).joined(separator: ", "), reason: "both change it"))
      }
    }
    guard !isUnclear else {
      result.settingsOfTheirs = theirs.settings
      return
    }
    let names = Self.order(
      base.map(\.name), ours.settings.map(\.name), theirs.settings.map(\.name), kept: Set(kept.keys),
      precedes: { $0.utf16Precedes($1) })
    result.settings = names.compactMap { name in kept[name].map { MergeNode.Setting(name: name, value: $0) } }
  }

  // MARK: - Children

  private mutating func mergedChildren(
    _ base: [MergeNode], _ ours: [MergeNode], _ theirs: [MergeNode], _ place: [String]
  ) -> [MergeNode] {
    func byKey(_ nodes: [MergeNode]) -> [MergeNode.Key: MergeNode] {
      Dictionary(nodes.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
    let (before, left, right) = (byKey(base), byKey(ours), byKey(theirs))
    // The new parts of a branch by former name.
    func renamed(_ nodes: [MergeNode]) -> [MergeNode.Key: MergeNode] {
      let pairs = nodes.compactMap { node in
        before[node.key] == nil ? node.formerName.map { (MergeNode.Key(kind: node.key.kind, name: $0), node) } : nil
      }
      return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
    let (mine, others) = (renamed(ours), renamed(theirs))
    func successor(of node: MergeNode, in nodes: [MergeNode.Key: MergeNode]) -> MergeNode? {
      nodes[node.key] ?? node.formerName.flatMap { nodes[MergeNode.Key(kind: node.key.kind, name: $0)] }
    }
    var result: [MergeNode.Key: MergeNode] = [:]
    // A property with two new names is in one conflict, not repeated elsewhere.
    var replaced: Set<MergeNode.Key> = []
    let keys = (base + ours + theirs).map(\.key)
    var seen: Set<MergeNode.Key> = []
    for key in keys where seen.insert(key).inserted {
      let isContainer = (before[key] ?? left[key] ?? right[key])?.isContainer ?? false
      let inside = isContainer ? place : place + [Self.words(key)]
      if let node = before[key], left[key] == nil, right[key] == nil {
        let (a, b) = (successor(of: node, in: mine), successor(of: node, in: others))
        guard a?.key != b?.key else { continue }
        let words = [a, b].map { $0.map { "renames it to \"\($0.key.name)\"" } ?? "removes it" }
        replaced.formUnion([a?.key, b?.key].compactMap(\.self))
        result[key] = conflict(a, b, inside, "ours \(words[0]), theirs \(words[1])")
        continue
      }
      result[key] = merged(before[key], left[key], right[key], in: inside)
    }
    for key in replaced { result[key] = nil }
    return Self.order(
      base.map(\.key), ours.map(\.key), theirs.map(\.key), kept: Set(result.keys),
      precedes: {
        ($0.kind, $1.kind) == ($1.kind, $0.kind) ? NaturalOrder.precedes($0.name, $1.name) : $0.kind < $1.kind
      }
    )
    .compactMap { result[$0] }
  }

  private static func words(_ key: MergeNode.Key) -> String {
    key.name.isEmpty ? "\"\(key.kind)\"" : "\(key.kind) \"\(key.name.prefix(120))\""
  }

  // MARK: - Order

  /// The order of the branch that changed it, with each new name after the name it follows there.
  ///
  /// New names of both branches at the same position are sorted, so the result is the same on
  /// either branch. A name that both branches have comes after all names that either has before it.
  static func order<Name: Hashable>(
    _ base: [Name], _ ours: [Name], _ theirs: [Name], kept: Set<Name>, precedes: (Name, Name) -> Bool
  ) -> [Name] {
    let known = Set(base)
    func isReordered(_ names: [Name]) -> Bool {
      let (mine, all) = (names.filter(known.contains), Set(names))
      return mine != base.filter(all.contains)
    }
    let model = isReordered(ours) ? ours : isReordered(theirs) ? theirs : base
    var seen: Set<Name> = []
    let frame = (model + base).filter { known.contains($0) && kept.contains($0) && seen.insert($0).inserted }
    let fixed = seen
    /// By the name that they follow; `nil` for those at the start.
    func additions(_ side: [Name]) -> [Name?: [Name]] {
      var result: [Name?: [Name]] = [:]
      var anchor: Name?
      for name in side {
        if fixed.contains(name) {
          anchor = name
        } else if kept.contains(name) {
          result[anchor, default: []].append(name)
        }
      }
      return result
    }
    let (mine, others) = (additions(ours), additions(theirs))
    var result: [Name] = []
    for anchor in [nil] + frame.map(Optional.some) {
      if let anchor { result.append(anchor) }
      var (left, right) = ((mine[anchor] ?? [])[...], (others[anchor] ?? [])[...])
      var waiting = (left: Set(left), right: Set(right))
      while true {
        left = left.drop { seen.contains($0) }
        right = right.drop { seen.contains($0) }
        var isTheirs = left.isEmpty
        if let first = left.first, let other = right.first, first != other {
          let waits = (waiting.right.contains(first), waiting.left.contains(other))
          isTheirs = waits.0 == waits.1 ? precedes(other, first) : waits.0
        }
        guard let name = isTheirs ? right.first : left.first else { break }
        seen.insert(name)
        waiting.left.remove(name)
        waiting.right.remove(name)
        result.append(name)
      }
    }
    return result
  }
}
