import HeirloomTesting

/// Edits to a model's source, made line by line: nothing of the merge's own reading is used.
struct ModelEdits {
  enum Edit: Hashable {
    case remove
    case change(Int)
    case rename(Int)
    case add(Int)
  }

  /// A property or, without one, an entity.
  struct Target: Hashable {
    let entity: String
    var property: String?
    var kind = "attribute"

    /// As a conflict names it.
    var place: String { "entity \"\(entity)\"" + (property.map { ", \(kind) \"\($0)\"" } ?? "") }
  }

  let lines: [String]
  /// The properties that stand alone in a line, and nowhere else by name.
  private(set) var attributes: [Target] = []
  private(set) var relationships: [Target] = []
  private(set) var entities: [Target] = []
  /// The entities that nothing else names.
  private(set) var removable: [Target] = []

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let isInvolved = text.contains("derivationExpression") || text.contains("fetchRequest")
    var entity: String?
    for line in lines {
      if line.hasPrefix("    <entity ") {
        entity = Self.value("name", in: line)
        if let entity, !line.hasSuffix("/>"), !line.contains("versionHashModifier") {
          entities.append(Target(entity: entity))
          let isNamed = lines.contains {
            $0.contains("destinationEntity=\"\(entity)\"") || $0.contains("parentEntity=\"\(entity)\"")
              || $0.contains("<memberEntity name=\"\(entity)\"") || $0.contains("<fetchRequest")
          }
          if !isNamed { removable.append(Target(entity: entity)) }
        }
      }
      if line == "    </entity>" { entity = nil }
      guard let current = entity, line.hasSuffix("/>"), let name = Self.value("name", in: line) else { continue }
      let isElsewhere =
        lines.contains { $0.contains("value=\"\(name)\"") || $0.contains("property=\"\(name)\"") }
        || isInvolved
      guard !line.contains("versionHashModifier") else { continue }
      if line.hasPrefix("        <attribute "), Self.value("elementID", in: line) == nil, !isElsewhere {
        attributes.append(Target(entity: current, property: name))
      } else if line.hasPrefix("        <relationship ") {
        relationships.append(Target(entity: current, property: name, kind: "relationship"))
      }
    }
  }

  private static func value(_ name: String, in line: String) -> String? {
    let parts = line.split(separator: " \(name)=\"", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2
      ? parts[1].split(separator: "\"", omittingEmptySubsequences: false).first.map(String.init) : nil
  }

  func edits(_ count: Int, among pool: [Target], _ random: inout SplitMix64) -> [Target: Edit] {
    var result: [Target: Edit] = [:]
    for _ in 0..<count where !pool.isEmpty {
      let target = pool[random.below(pool.count)]
      if target.property == nil {
        let canGo = removable.contains(target)
        result[target] = canGo && random.below(2) == 0 ? .remove : .change(random.below(3))
      } else if target.property?.hasPrefix("fresh") == true {
        result[target] = .add(random.below(2))
      } else if target.kind == "relationship" {
        result[target] = .change(random.below(3))
      } else {
        result[target] = [.remove, .change(random.below(3)), .rename(random.below(2))][random.below(3)]
      }
    }
    // Nobody edits what he removes.
    for (target, edit) in result where target.property == nil && edit == .remove {
      result = result.filter { $0.key == target || $0.key.entity != target.entity }
    }
    return result
  }

  /// Heights in the editor's picture change with the edits, as Xcode changes them.
  func text(with edits: [Target: Edit], height: Int) -> String {
    var result: [String] = []
    var entity = ""
    var isGone = false
    for line in lines {
      if line.hasPrefix("    <entity ") {
        entity = Self.value("name", in: line) ?? ""
        isGone = edits[Target(entity: entity)] == .remove
      }
      defer {
        if line == "    </entity>" { (entity, isGone) = ("", false) }
      }
      guard !isGone else { continue }
      if line.hasPrefix("        <element "), let name = Self.value("name", in: line) {
        if edits[Target(entity: name)] == .remove { continue }
        let isEdited = edits.keys.contains { $0.entity == name }
        let old = Self.value("height", in: line) ?? ""
        result.append(isEdited ? line.replacing("height=\"\(old)\"", with: "height=\"\(old)\(height)\"") : line)
        continue
      }
      let kind = line.hasPrefix("        <relationship ") ? "relationship" : "attribute"
      let name = line.hasPrefix("        <\(kind) ") ? Self.value("name", in: line) : nil
      let isEntity = line.hasPrefix("    <entity ")
      let target = Target(entity: entity, property: isEntity ? nil : name ?? "\0", kind: kind)
      switch edits[target] {
      case .remove?: break
      case .change(let number)?:
        result.append(line.replacing(" name=", with: " versionHashModifier=\"m\(number)\" name=", maxReplacements: 1))
      case .rename(let number)?:
        result.append(
          line.replacing(" name=\"\(name ?? "")\"", with: " name=\"\(name ?? "")R\(number)\"", maxReplacements: 1)
            .replacing("/>", with: " elementID=\"\(name ?? "")\"/>"))
      case .add?, nil: result.append(line)
      }
      if isEntity {
        for (target, edit) in edits.sorted(by: { $0.key.place < $1.key.place }) where target.entity == entity {
          guard case .add(let number) = edit else { continue }
          let type = ["String", "Date"][number]
          result.append(
            "        <attribute name=\"\(target.property ?? "")\" optional=\"YES\" attributeType=\"\(type)\"/>")
        }
      }
    }
    return result.joined(separator: "\n")
  }

  static func contradictions(_ ours: [Target: Edit], _ theirs: [Target: Edit]) -> Set<String> {
    var places: Set<String> = []
    for (target, edit) in ours {
      if let other = theirs[target], other != edit {
        // A change of an entity's own is one of its settings.
        let isSetting = target.property == nil && edit != .remove && other != .remove
        places.insert(target.place + (isSetting ? ", \"versionHashModifier\"" : ""))
      }
    }
    for (mine, others) in [(ours, theirs), (theirs, ours)] {
      for (target, edit) in mine where target.property == nil && edit == .remove {
        if others.contains(where: { $0.key.entity == target.entity && $0 != (target, .remove) }) {
          places.insert(target.place)
        }
      }
    }
    return places
  }
}
