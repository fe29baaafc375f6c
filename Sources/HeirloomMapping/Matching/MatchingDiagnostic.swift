import HeirloomModel

/// A suspicion that the matching of two models is not what the developer intended.
///
/// It is only a warning, but should be shown: where a rename was intended, values are dropped.
package struct MatchingDiagnostic: Hashable, Sendable {
  package let kind: Kind
  /// In the destination.
  package let entity: String
  /// In the destination; `nil` for the entity itself.
  package let property: String?
  /// The source entity or property that was probably intended.
  package let counterpart: String
  package let suggestedIdentifier: String
  /// Other elements of the destination that the counterpart may have become, as similar as this one.
  package let alternatives: [String]
  /// Other elements of the source that this one may have been, as similar as the counterpart.
  package let rivals: [String]

  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A renaming identifier that is the name of a source element, which itself has another identifier.
    ///
    /// A second rename must repeat the element's existing identifier; its previous name is right only the first time.
    case previousNameAsIdentifier
    /// An element with the name of a source element but another identifier, so that it starts empty.
    ///
    /// Some apps do so on purpose, to discard a property's content.
    case sameNameOtherIdentifier
    /// A removed element and an added one of the same shape.
    case suspectedRename
    /// An element that is renamed without a migration, because stores are compatible with both models: names were
    /// swapped.
    case renameWithoutMigration
  }

  init(
    kind: Kind, entity: String, property: String?, counterpart: String, suggestedIdentifier: String,
    alternatives: [String] = [], rivals: [String] = []
  ) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.counterpart = counterpart
    self.suggestedIdentifier = suggestedIdentifier
    self.alternatives = alternatives
    self.rivals = rivals
  }
}

extension MatchingDiagnostic: CustomStringConvertible {
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let subject = property.map { "\"\(entity).\($0)\"" } ?? "Entity \"\(entity)\""
    let content = property == nil ? "all the old objects are" : "the old content is"
    let kept = property == nil ? "they are" : "it is"
    return switch kind {
    case .previousNameAsIdentifier:
      """
      \(subject) has the previous name "\(counterpart)" as its renaming identifier, but the identifier of that one is \
      "\(suggestedIdentifier)": did you mean the renaming identifier "\(suggestedIdentifier)"?
      """
    case .sameNameOtherIdentifier:
      """
      \(subject) has the name of "\(counterpart)" in the source but another identifier: \(content) dropped. If \
      \(kept) to be kept, give it the renaming identifier "\(suggestedIdentifier)".
      """
    case .suspectedRename:
      """
      \(subject) is new and \(([counterpart] + rivals).map { "\"\($0)\"" }.joined(separator: ", ")), of the same shape, \
      \(rivals.isEmpty ? "is" : "are") removed. A rename? Then give \
      \(alternatives.isEmpty ? "it" : "the one that continues it") the renaming identifier \
      \(rivals.isEmpty ? "\"\(suggestedIdentifier)\"" : "of the one that it continues"); otherwise \(content) dropped.
      """
    case .renameWithoutMigration:
      """
      \(subject) has the renaming identifier of "\(counterpart)", but version hashes don't include it, so no store is \
      migrated: \(subject) keeps the content of "\(property ?? entity)". If contents are to follow, change the hash \
      modifier too.
      """
    }
  }
}
