public import HeirloomModel

/// Swift source that says what inference could not, with holes to fill in.
///
/// It compiles as it is: a delegate whose method gives the mapping, and a policy for each entity that has something to fill in.
/// A hole throws until it is filled, so that nothing is dropped by forgetting one.
public struct MappingSkeleton: Hashable, Sendable {
  /// The source text, which ends with a line break.
  public let source: String

  /// Something to fill in for the objects of an entity mapping.
  private struct Hole: Hashable {
    let property: String
    let isRelationship: Bool
    let reason: String
  }

  /// An entity mapping with what is to be filled in.
  private struct Part {
    let from: String
    let to: String
    let className: String
    var holes: [Hole]
  }

  /// Writes what two models leave open.
  ///
  /// It is `nil` if everything can be inferred.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  public init?(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    self.init(MappingInference(from: source, to: destination))
  }

  /// Writes what an inference leaves open; `nil` if that is nothing.
  public init?(_ inference: MappingInference) {
    guard !inference.obstacles.isEmpty else { return nil }
    var parts: [Part] = []
    var notes: [String] = []
    for obstacle in inference.obstacles {
      let places = Self.places(of: obstacle, in: inference)
      if places.isEmpty { notes.append(Self.comment("\(obstacle.reason) \(obstacle.suggestion)", indent: "      ")) }
      for (from, to) in places {
        let isRelationship =
          obstacle.property.map { inference.destination.relationship(named: $0, of: to) != nil } ?? false
        // An entity that has a mapping of its own may come from another hierarchy; there is nothing else to say.
        let holes = obstacle.property.map {
          [Hole(property: $0, isRelationship: isRelationship, reason: obstacle.reason)]
        }
        if let index = parts.firstIndex(where: { $0.from == from && $0.to == to }) {
          parts[index].holes += holes ?? []
        } else {
          let taken = Set(parts.map(\.className))
          parts.append(Part(from: from, to: to, className: Self.className(from, to, taken), holes: holes ?? []))
        }
      }
    }
    source = Self.text(parts, notes: notes, inference)
  }

  /// The entity mappings whose objects an obstacle is about.
  private static func places(of obstacle: MappingObstacle, in inference: MappingInference) -> [(String, String)] {
    let tree = Set(inference.destination.entityTree(from: obstacle.entity).map(\.name))
    let pairs = inference.draft.entityMappings.compactMap { mapping -> (String, String)? in
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName, tree.contains(to),
        inference.destination.entity(named: to)?.isAbstract == false
      else { return nil }
      return (from, to)
    }
    switch obstacle.kind {
    case .incompatibleTypes, .externalStorageDisabled, .relationshipDestination, .ambiguousProperty:
      let name = obstacle.property?.split(separator: ".").first.map(String.init) ?? ""
      return pairs.filter { inference.destination.declaringEntity(ofProperty: name, in: $0.1)?.name == obstacle.entity }
    case .mergedHierarchies:
      // The objects of all trees but that which most come from get mappings of their own.
      let groups = Dictionary(grouping: pairs) { inference.source.rootEntity(of: $0.0)?.name ?? $0.0 }
      let home = groups.max { left, right in
        left.value.count == right.value.count ? right.key.utf16Precedes(left.key) : left.value.count < right.value.count
      }
      return pairs.filter { inference.source.rootEntity(of: $0.0)?.name != home?.key }
    case .ambiguousEntity, .invalidMapping: return []
    }
  }

  // MARK: - Writing

  private static func text(_ parts: [Part], notes: [String], _ inference: MappingInference) -> String {
    let mappings = parts.map { part in
      let policy = part.holes.isEmpty ? "" : ", policy: \(part.className).self"
      return "      EntityMapping(from: \(literal(part.from)), to: \(literal(part.to))\(policy))\n"
    }
    let policies = parts.filter { !$0.holes.isEmpty }.map { policy($0, inference) }
    return """
      import Heirloom

      /// Says what can't be inferred from one version of the model to the next.
      final class MappingDelegate: MigrationAssistantDelegate {
        func migrationAssistant(
          _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
          need: MappingNeed
        ) throws -> MappingModel? {
          // What isn't said here is inferred.
          try MappingModel.inferred(from: source, to: destination) {
      \(notes.joined())\(mappings.joined())    }
        }
      }

      /// A hole that nobody has filled in yet; it stops the migration, and the store stays as it was.
      struct NotFilledIn: Error {
        let hole: String
      }

      """ + policies.joined()
  }

  private static func policy(_ part: Part, _ inference: MappingInference) -> String {
    let values = part.holes.filter { !$0.isRelationship }
    let links = part.holes.filter(\.isRelationship)
    var text = """

      /// Makes \(oneLine(part.to)) of \(oneLine(part.from)).
      final class \(part.className): EntityMigrationPolicy {

      """
    if !values.isEmpty {
      text += """
          override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
          ) throws {
            // What can be inferred is copied; both objects are associated.
            let destination = try manager.createDestinationInstance(forSource: source, in: mapping)

        """
      text += values.map { hole($0, part, inference) }.joined()
      text += """
            throw NotFilledIn(hole: \(literal(names(values, part))) + " of \\(destination.entityName)")
          }

        """
    }
    if !links.isEmpty {
      text += """
        \(values.isEmpty ? "" : "\n")  override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
          ) throws {
            // What can be inferred is linked.
            try super.createRelationships(forDestination: destination, in: mapping, manager: manager)

        """
      text += links.map { hole($0, part, inference) }.joined()
      text += """
            throw NotFilledIn(hole: \(literal(names(links, part))))
          }

        """
    }
    return text + "}\n"
  }

  private static func names(_ holes: [Hole], _ part: Part) -> String {
    holes.map { "\(part.to).\($0.property)" }.joined(separator: ", ")
  }

  private static func hole(_ hole: Hole, _ part: Part, _ inference: MappingInference) -> String {
    var text = comment(hole.reason, indent: "    ")
    if hole.isRelationship {
      text += comment(
        "Fill in: destination.setObjects(…, forRelationship: \(literal(hole.property))) or setObject(…), with what became of"
          + " the objects that the source led to; then remove the line that throws.", indent: "    ")
    } else {
      let name = hole.property.split(separator: ".").first.map(String.init) ?? hole.property
      let type = inference.destination.attribute(named: name, of: part.to).map { ", a value of type \($0.type.name)" }
      text += comment(
        "Fill in: destination[\(literal(hole.property))] = …\(type ?? ""), made of what source has; then remove the line"
          + " that throws.", indent: "    ")
    }
    return text
  }

  /// A comment of as many lines as it takes.
  private static func comment(_ text: String, indent: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in oneLine(text).split(separator: " ") {
      if !line.isEmpty, line.count + word.count + indent.count > 112 {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).map { "\(indent)// \($0)\n" }.joined()
  }

  /// Text that stays on one line, whatever names a model has.
  private static func oneLine(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .format: true
    default: false
    }
  }

  private static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" {
        result += "\\"
        result.unicodeScalars.append(scalar)
      } else if isControl(scalar) {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func className(_ from: String, _ to: String, _ taken: Set<String>) -> String {
    func word(_ name: String) -> String {
      let letters = name.unicodeScalars.filter {
        $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
      }
      let text = String(String.UnicodeScalarView(letters))
      return text.prefix(1).uppercased() + text.dropFirst()
    }
    let (first, second) = (word(from), word(to))
    var name = (first == second ? first : first + "To" + second) + "Policy"
    if name.unicodeScalars.first?.properties.numericType != nil { name = "Policy" + name }
    var unique = name
    var number = 2
    while taken.contains(unique) {
      unique = "\(name)\(number)"
      number += 1
    }
    return unique
  }
}
