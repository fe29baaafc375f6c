import HeirloomFormats
import HeirloomModel

/// The merge of models in snapshots, as trees of JSON.
enum ContentMerge {
  /// Lists whose elements are merged by name or, if they are texts and lists, by content.
  private static let divisible: Set<String> = [
    "model", "entities", "attributes", "relationships", "fetchedProperties", "indexes", "fetchRequestTemplates",
    "configurations", "uniquenessConstraints", "userInfo", "versionIdentifiers",
  ]
  /// Lists whose elements are merged part by part.
  private static let deep: Set<String> = ["entities", "configurations"]
  private static let words = [
    "entities": "entity", "attributes": "attribute", "relationships": "relationship", "indexes": "index",
    "fetchedProperties": "fetched property", "fetchRequestTemplates": "fetch request",
    "configurations": "configuration", "uniquenessConstraints": "uniqueness constraint",
    "versionIdentifiers": "version identifier",
  ]

  static func node(_ value: JSONValue, named name: String = "model") -> MergeNode {
    let key = MergeNode.Key(kind: name, name: "")
    switch value {
    case .object(let members) where divisible.contains(name):
      let children = members.ordered { $0.key }.map { node($0.value, named: $0.key) }
      var result = MergeNode(key: key, form: .object, children: children)
      result.isWhole = false
      return result
    case .array(let values) where divisible.contains(name):
      var node = MergeNode(key: key, form: .list, children: values.map { element($0, of: name) })
      node.isWhole = false
      return node
    default:
      return MergeNode(key: key, form: .value(value))
    }
  }

  private static func element(_ value: JSONValue, of list: String) -> MergeNode {
    func text(_ value: JSONValue) -> String {
      switch value {
      case .string(let text): text
      case .array(let values): values.map(text).joined(separator: ", ")
      default: "\(value)"
      }
    }
    let kind = words[list] ?? list
    guard case .object(let members) = value, case .string(let name)? = members["name"] else {
      return MergeNode(key: MergeNode.Key(kind: kind, name: text(value)), form: .value(value))
    }
    var node = MergeNode(key: MergeNode.Key(kind: kind, name: name), form: .value(value))
    if deep.contains(list) {
      node.form = .object
      node.children = members.ordered { $0.key }.map { Self.node($0.value, named: $0.key) }
      node.isWhole = false
    }
    if case .string(let former)? = members["renamingIdentifier"] { node.formerName = former }
    return node
  }

  static func value(_ node: MergeNode) -> JSONValue {
    switch node.form {
    case .value(let value): value
    case .list: .array(node.children.map(value))
    default:
      .object(Dictionary(node.children.map { ($0.key.kind, value($0)) }, uniquingKeysWith: { first, _ in first }))
    }
  }
}

extension VersionLock {
  /// Also returns the conflicting parts; `base` is the lock before the branches diverged.
  static func merged(_ base: VersionLock, _ ours: VersionLock, _ theirs: VersionLock) -> (VersionLock, [MergeConflict])
  {
    /// (Entity hashes that an older release didn't write are no edit.)
    func content(_ entry: Entry) -> MergeNode.Form {
      var members = entry.members(inFormat: 2)
      members["entities"] = nil
      return .value(.object(members))
    }
    func entries(_ lock: VersionLock) -> MergeNode {
      var node = MergeNode(key: MergeNode.Key(kind: "lock", name: ""), form: .list)
      node.isWhole = false
      node.children = lock.versions.map { entry in
        MergeNode(key: MergeNode.Key(kind: "version", name: entry.id), form: content(entry))
      }
      return node
    }
    var merge = ThreeWayMerge()
    let tree = merge.merged(entries(base), entries(ours), entries(theirs))
    let all = [ours, theirs, base].flatMap(\.versions)
    var lock = VersionLock()
    lock.readFormat = max(ours.readFormat, theirs.readFormat)
    for node in tree?.children ?? [] {
      let fitting = all.filter { $0.id == node.key.name && node.form == content($0) }
      if let entry = fitting.first(where: { $0.entities != nil }) ?? fitting.first { lock.versions.append(entry) }
    }
    for item in ours.acknowledgements + theirs.acknowledgements {
      for loss in item.losses {
        let states = [base, ours, theirs].map { $0.acknowledges(loss, item) }
        // Consent that one branch withdrew is withdrawn.
        guard !states[0] || (states[1] && states[2]) else { continue }
        lock.acknowledge(loss.name, kind: loss.kind, from: item.source, to: item.destination)
      }
    }
    for step in ours.stepsByCode + theirs.stepsByCode where !lock.stepsByCode.contains(step) {
      let states = [base, ours, theirs].map { $0.stepsByCode.contains(step) }
      if !states[0] || (states[1] && states[2]) { lock.stepsByCode.append(step) }
    }
    var conflicts = merge.conflicts
    lock.floor = ours.floor == base.floor ? theirs.floor : ours.floor
    let floors = Set([base.floor, ours.floor, theirs.floor])
    let isGone = lock.floor.map { floor in !lock.versions.contains { $0.id == floor } } ?? false
    if floors.count == 3 || isGone {
      conflicts.append(MergeConflict(place: floorPlace, reason: "the branches don't agree on it"))
    }
    for item in ours.writtenDecisions + theirs.writtenDecisions where !lock.writtenDecisions.contains(item) {
      let states = [base, ours, theirs].map { $0.writtenDecisions.contains(item) }
      if !states[0] || (states[1] && states[2]) { lock.writtenDecisions.append(item) }
    }
    // Each branch may have answered the same question differently.
    if ours.decides(otherwiseThan: theirs, since: base) {
      conflicts.append(MergeConflict(place: decisionsPlace, reason: "the branches don't agree on them"))
    }
    return (lock, conflicts)
  }

  static let floorPlace = "floor"
  static let decisionsPlace = "decisions"

  private func acknowledges(_ loss: Acknowledgement.Loss, _ item: Acknowledgement) -> Bool {
    acknowledgements.contains {
      $0.source == item.source && $0.destination == item.destination && $0.losses.contains(loss)
    }
  }
}
