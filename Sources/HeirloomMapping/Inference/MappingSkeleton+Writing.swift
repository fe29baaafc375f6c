import HeirloomModel

extension MappingSkeleton {
  static func text(_ draft: Draft, from name: String?, to laterName: String?) -> String {
    let policies = draft.parts.filter(\.hasPolicy).map { policy($0, draft.inference) }
    let (first, last) = (name ?? "VERSION BEFORE", laterName ?? "VERSION AFTER")
    let unnamed = comment("Give the names of the two versions.", indent: "    ")
    return """
      import Heirloom

      extension ModelHistory {
        /// Adds the step from "\(SwiftText.oneLine(first))" to "\(SwiftText.oneLine(last))": what can't be inferred.
        mutating func addStep\(laterName.map { "To" + word($0) } ?? "")() throws {
      \(undecided(draft.decisions))    // Everything else is inferred.
      \(name == nil || laterName == nil ? unnamed : "")\
          try step(from: \(SwiftText.literal(first)), to: \(SwiftText.literal(last))) {
      \(draft.decisions.isEmpty ? "" : "      try NotFilledIn.unlessEmpty(undecided)\n")\
      \(draft.parts.map(mapping).joined())\(draft.lines.map { "      // \($0)\n" }.joined())    }
        }
      }

      /// A hole that isn't filled in yet; it stops the migration, and the store stays unchanged.
      struct NotFilledIn: Error {
        let hole: String
      \(draft.decisions.isEmpty ? "" : check)}

      """ + policies.joined()
  }

  private static let check = """

      /// Throws if anything is undecided; it adds no mapping.
      static func unlessEmpty(_ undecided: [String]) throws -> [EntityMapping] {
        guard undecided.isEmpty else { throw NotFilledIn(hole: undecided.joined(separator: ", ")) }
        return []
      }

    """

  /// The generated code throws while the list isn't empty.
  private static func undecided(_ decisions: [Decision]) -> String {
    guard !decisions.isEmpty else { return "" }
    var text = comment(
      "Decide each line, then remove it: map the content below, or, if the loss is intended, consent to it in the"
        + " history's lock.json.", indent: "    ")
    text += "    let undecided: [String] = [\n"
    for decision in decisions {
      text += comment(decision.reason, indent: "      ")
      text += "      \(SwiftText.literal(decision.subject)),\(decision.isLoss ? "  // a loss" : "")\n"
    }
    return text + "    ]\n"
  }

  private static func mapping(_ part: Part) -> String {
    let policy = part.hasPolicy ? ", policy: \(part.className).self" : ""
    let call = "      EntityMapping(from: \(SwiftText.literal(part.from)), to: \(SwiftText.literal(part.to))\(policy))"
    guard !part.lines.isEmpty else { return call + "\n" }
    return call + " {\n\(part.lines.map { "        // \($0)\n" }.joined())      }\n"
  }

  private static func policy(_ part: Part, _ inference: MappingInference) -> String {
    let values = part.holes.filter { !$0.isRelationship }
    let links = part.holes.filter(\.isRelationship)
    var text = """

      /// Creates \(SwiftText.oneLine(part.to)) from \(SwiftText.oneLine(part.from)).
      final class \(part.className): EntityMigrationPolicy {

      """
    if !values.isEmpty || !part.splits.isEmpty {
      let open =
        values.map { "\(part.to).\($0.property)" }
        + part.splits.flatMap { split in
          split.missing.map { "\(split.part).\($0)" }
        }
      let usesDestination = !open.isEmpty || part.splits.contains { $0.link != nil }
      text += """
          override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
          ) throws {
            // What can be inferred is copied; both objects are associated.
            \(usesDestination ? "let destination" : "_") = try manager.createDestinationInstance(forSource: source, in: mapping)

        """
      text += Self.splits(part.splits) + values.map { hole($0, part, inference) }.joined()
      if !open.isEmpty {
        text +=
          "    throw NotFilledIn(hole: \(SwiftText.literal(open.joined(separator: ", "))) + \" of \\(destination.entityName)\")\n"
      }
      text += "  }\n"
    }
    if !links.isEmpty {
      text += """
        \(values.isEmpty && part.splits.isEmpty ? "" : "\n")  override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
          ) throws {
            // What can be inferred is linked.
            try super.createRelationships(forDestination: destination, in: mapping, manager: manager)

        """
      text += links.map { hole($0, part, inference) }.joined()
      text += """
            throw NotFilledIn(hole: \(SwiftText.literal(links.map { "\(part.to).\($0.property)" }.joined(separator: ", "))))
          }

        """
    }
    return text + "}\n"
  }

  /// Code that creates the second object of each split, or finds an existing one.
  private static func splits(_ splits: [EntitySplit]) -> String {
    var taken: Set<String> = []
    return splits.map { split in
      let name = unique("new" + word(split.part), taken)
      taken.insert(name)
      let part = SwiftText.literal(split.part)
      // An object with further required properties can't be identified by the moved attributes.
      let isShared = split.link?.isShared ?? false && split.missing.isEmpty
      var text = comment(
        "The values that \"\(split.destination)\" no longer has go to an object of \"\(split.part)\""
          + (isShared ? ", one for all with equal values." : "."), indent: "    ")
      var lines: [String] = []
      if isShared {
        let terms = split.moves.map { _ in "%K == %@" }.joined(separator: " AND ")
        lines += ["let known = try ObjectFetchRequest(", "  \(part), where: \"\(terms)\","]
        lines += split.moves.map { "  \(SwiftText.literal($0.to)), \($0.value)," }
        lines[lines.count - 1] = lines[lines.count - 1].dropLast() + ")"
        lines.append("let context = manager.destinationContext")
        lines.append("let \(name) = try context.fetch(known).first ?? context.insert(\(part))")
      } else {
        lines.append("let \(name) = try manager.destinationContext.insert(\(part))")
      }
      for move in split.moves {
        if move.standIn != nil {
          lines.append("// \"\(SwiftText.oneLine(move.to))\" is required: give a value for objects without one.")
        }
        lines.append("\(name)[\(SwiftText.literal(move.to))] = \(move.value)")
      }
      for property in split.missing {
        let place = "\(name)[\(SwiftText.literal(property))]"
        lines.append("// Fill in: \(place) = …, which is required; then remove the line that throws.")
      }
      if let link = split.link {
        let (owner, other) = link.isOfPart ? (name, "destination") : ("destination", name)
        let place = SwiftText.literal(link.name)
        lines.append(
          link.isToMany ? "\(owner)[toMany: \(place)].append(\(other))" : "\(owner)[toOne: \(place)] = \(other)")
      }
      if split.link?.isRequired != true {
        let something = split.moves.map { "source[\(SwiftText.literal($0.from))] != nil" }.joined(separator: " || ")
        lines = ["if \(something) {"] + lines.map { "  " + $0 } + ["}"]
      } else if isShared {
        lines = ["do {"] + lines.map { "  " + $0 } + ["}"]
      }
      text += lines.map { "    \($0)\n" }.joined()
      return text
    }.joined()
  }

  private static func hole(_ hole: Hole, _ part: Part, _ inference: MappingInference) -> String {
    var text = comment(hole.reason, indent: "    ")
    if hole.isRelationship {
      text += comment(
        "Fill in: destination.setObjects(…, forRelationship: \(SwiftText.literal(hole.property))) or setObject(…), with"
          + " the destination objects of the source's related objects; then remove the line that"
          + " throws.", indent: "    ")
    } else {
      let name =
        hole.property.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? hole.property
      let type = inference.destination.attribute(named: name, of: part.to).map { ", a value of type \($0.type.name)" }
      text += comment(
        "Fill in: destination[\(SwiftText.literal(hole.property))] = …\(type ?? ""), computed from source; then remove"
          + " the line that throws.", indent: "    ")
    }
    return text
  }

  private static func comment(_ text: String, indent: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in SwiftText.oneLine(text).split(separator: " ") {
      if !line.isEmpty, line.count + word.count + indent.count > 112 {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).map { "\(indent)// \($0)\n" }.joined()
  }

  static func className(_ from: String, _ to: String, _ taken: Set<String>) -> String {
    let (first, second) = (word(from), word(to))
    let name = (first == second ? first : first + "To" + second) + "Policy"
    return unique(name.unicodeScalars.first?.properties.numericType == nil ? name : "Policy" + name, taken)
  }

  private static func word(_ name: String) -> String {
    let letters = name.unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
    }
    let text = String(String.UnicodeScalarView(letters))
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  private static func unique(_ name: String, _ taken: Set<String>) -> String {
    var unique = name
    var number = 2
    while taken.contains(unique) {
      unique = "\(name)\(number)"
      number += 1
    }
    return unique
  }
}
