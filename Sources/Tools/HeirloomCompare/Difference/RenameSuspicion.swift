import HeirloomMapping
import HeirloomModel

/// A removed element and an added one of its kind, which may be the same under a new name.
///
/// It is only a warning: a migration matches by name and renaming identifier alone, and drops the
/// content of an element that was renamed without one. So the developer should be asked.
package struct RenameSuspicion: Hashable, Sendable {
  /// Raw values are stable.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case entity
    case attribute
    case relationship
  }

  package let kind: Kind
  /// The entity of the destination that declares the added property, or the added entity itself.
  package let entity: String
  /// The source entity whose objects have the removed property, or the removed entity itself.
  package let sourceEntity: String
  package let removed: String
  package let added: String
  /// Of both, such as `String`, or `to Person` for a to-one relationship.
  package let type: String
  /// From 0 to 1.
  package let nameSimilarity: Double
  /// From 0 to 1, by the names and the other features in the models.
  package let score: Double
  /// Would match the two.
  package let renamingIdentifier: String
  /// Other added names that are as similar; if there are any, no rename is proposed.
  package let alternatives: [String]
  /// Other removed names that are as similar; if there are any, no rename is proposed.
  package let rivals: [String]
  /// Those of the removed elements; `renamingIdentifier` is the first.
  private let identifiers: [String]

  package var isProposal: Bool { alternatives.isEmpty && rivals.isEmpty }
}

extension RenameSuspicion: CustomStringConvertible {
  /// One sentence.
  package var question: String {
    let (gone, new) = (Self.names([removed] + rivals), Self.names([added] + alternatives))
    let all = isProposal ? "both" : "all"
    return switch kind {
    case .entity:
      "\(rivals.isEmpty ? "entity" : "entities") \(gone) removed and \(new) added, with similar properties: a rename?"
    case .attribute: "\(gone) removed and \(new) added, \(all) \(type): a rename?"
    case .relationship: "\(gone) removed and \(new) added, \(all) refer \(type): a rename?"
    }
  }

  private static func names(_ names: [String]) -> String {
    names.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  /// The beginning of a sentence.
  package var advice: String {
    let place = "in Xcode's model inspector, or"
    guard rivals.isEmpty else {
      return
        "Give \(heir) the renaming identifier of the element that it continues (\(choices)): \(place) as elementID in"
        + " the model's source"
    }
    return "Give \(heir) the renaming identifier \"\(renamingIdentifier)\": \(place)"
      + " elementID=\"\(renamingIdentifier)\" in the model's source"
  }

  /// The added element that a rename would apply to, in words.
  private var heir: String {
    if alternatives.isEmpty { return "\"\(added)\"" }
    return rivals.isEmpty ? "the one that continues \"\(removed)\"" : "each that continues another"
  }

  private var choices: String { identifiers.map { "\"\($0)\"" }.joined(separator: " or ") }

  /// For a model generated from SwiftData source, where a class has no former name.
  package var sourceAdvice: String {
    kind == .entity
      ? "SwiftData can't follow it: keep the class's name, or carry its objects over in a custom stage"
      : rivals.isEmpty
        ? "Write @Attribute(originalName: \"\(renamingIdentifier)\"), or @Relationship with it, before \(heir)"
        : "Write @Attribute(originalName:) before \(heir), or @Relationship with it, with the name of the property that"
          + " it continues (\(choices))"
  }

  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let subject = kind == .entity ? "" : "\(entity): "
    return
      "\(subject)\(question) \(advice); otherwise \(kind == .entity ? "its objects are" : "its content is") dropped."
  }
}

extension RenameSuspicion {
  /// `nil` for a diagnostic of another kind.
  init?(_ diagnostic: MatchingDiagnostic, in correspondence: ModelCorrespondence) {
    guard diagnostic.kind == .suspectedRename else { return nil }
    let (source, destination) = (correspondence.source, correspondence.destination)
    removed = diagnostic.counterpart
    renamingIdentifier = diagnostic.suggestedIdentifier
    entity = diagnostic.entity
    added = diagnostic.property ?? diagnostic.entity
    (alternatives, rivals) = (diagnostic.alternatives, diagnostic.rivals)
    nameSimilarity = NameSimilarity.value(removed, added)
    guard let property = diagnostic.property else {
      kind = .entity
      sourceEntity = diagnostic.counterpart
      type = "entity"
      identifiers =
        ([diagnostic.suggestedIdentifier]
          + diagnostic.rivals.map { source.entity(named: $0)?.renamingIdentifier ?? $0 })
      let likeness = Self.likeness(source.shapes(of: sourceEntity), destination.shapes(of: entity))
      score = 0.3 * nameSimilarity + 0.7 * likeness
      return
    }
    // The entity itself may be new while its subentities continue entities of the source.
    let tree = destination.entityTree(from: diagnostic.entity)
    guard let pair = tree.lazy.compactMap({ correspondence.pair(ofDestination: $0.name) }).first else { return nil }
    let name = pair.source.name
    sourceEntity = name
    identifiers =
      ([diagnostic.suggestedIdentifier]
        + diagnostic.rivals.map {
          source.attribute(named: $0, of: name)?.renamingIdentifier
            ?? source.relationship(named: $0, of: name)?.renamingIdentifier ?? $0
        })
    if let before = source.attribute(named: removed, of: sourceEntity),
      let after = destination.attribute(named: property, of: entity)
    {
      kind = .attribute
      type = after.type.name
      score =
        0.6 * nameSimilarity + (before.isOptional == after.isOptional ? 0.25 : 0)
        + (before.defaultValue == after.defaultValue ? 0.15 : 0)
    } else if let before = source.relationship(named: removed, of: sourceEntity),
      let after = destination.relationship(named: property, of: entity)
    {
      kind = .relationship
      type = "to \(after.isToMany ? "many " : "")\(after.destinationEntity)"
      score =
        0.6 * nameSimilarity + (before.isOptional == after.isOptional ? 0.15 : 0)
        + (correspondence.haveSameInverse(before, after) ? 0.25 : 0)
    } else {
      return nil
    }
  }

  /// From 0 to 1.
  private static func likeness(_ one: Set<String>, _ other: Set<String>) -> Double {
    let total = one.count + other.count
    return total == 0 ? 0 : 2 * Double(one.intersection(other).count) / Double(total)
  }
}

extension ManagedObjectModel {
  /// Includes inherited properties.
  fileprivate func shapes(of entity: String) -> Set<String> {
    Set(
      attributes(of: entity).map { "\($0.name) \($0.type.name)" }
        + relationships(of: entity).map { "\($0.name) \($0.isToMany)" })
  }
}

extension ModelCorrespondence {
  /// True if the inverses match, or neither relationship has one.
  fileprivate func haveSameInverse(_ before: RelationshipDescription, _ after: RelationshipDescription) -> Bool {
    guard let old = source.inverse(of: before), let new = destination.inverse(of: after) else {
      return source.inverse(of: before) == nil && destination.inverse(of: after) == nil
    }
    return pair(ofSource: old.entity.name)?.destinationRelationships[old.relationship.name] == new.relationship.name
  }
}
