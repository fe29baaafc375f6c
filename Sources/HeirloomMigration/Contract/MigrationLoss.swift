public import HeirloomMapping
import HeirloomModel
package import HeirloomVault

/// Rows, values or links that the destination can't hold, and values that are changed.
public struct MigrationLoss: Hashable, Sendable {
  /// The entity: of the source for dropped content, of the destination for content that doesn't fit there.
  ///
  /// For changes that only the store's `-wal` or a kept `-journal` holds, it is the name of that file.
  public let entity: String
  /// The property of the same entity; `nil` for whole objects, frames of the `-wal` and pages of the `-journal`.
  public let property: String?
  /// The reason, in a sentence.
  public let reason: String
  /// The number of rows that lose content, of frames of the `-wal`, or of pages of the `-journal`; never 0.
  public let rows: Int64
  /// The number of links that are lost, where it differs from ``rows``; `nil` if it doesn't, and for other kinds.
  public let links: Int64?
  /// The kind of content that is lost.
  public let kind: Kind
  /// The source of the consent; `nil` without consent.
  public package(set) var consent: LossConsent?

  /// A kind of content.
  public typealias Kind = LossKind

  /// The name under which the loss can be accepted: `Entity` for objects, `Entity.property` for the rest.
  public var name: String { property.map { "\(entity).\($0)" } ?? entity }

  package var amount: String {
    CountText.counted(rows, unit) + (links.map { ", \(CountText.counted($0, "link"))" } ?? "")
  }

  /// True for frames of a `-wal` or pages of a `-journal`; ``entity`` is then the file's name.
  package var isOfLog: Bool { kind == .unknownContent && property == nil }

  /// True for pages of a `-journal` that is kept with a previous version.
  package var isOfJournal: Bool { isOfLog && entity.hasSuffix("-journal") }

  package var unit: String { isOfJournal ? "page" : isOfLog ? "frame" : "row" }

  /// Changes that only the store's `-wal` holds; `nil` if there are none.
  package init?(_ damage: LogDamage) {
    guard damage.lostCount > 0 else { return nil }
    self.init(
      entity: damage.name, property: nil,
      reason:
        "Changes that only the \"-wal\" holds are not migrated: SQLite can't reach them. Salvage the store first.",
      rows: Int64(damage.lostCount), kind: .unknownContent)
  }

  package init(pages: SoleContent, keptWith version: String) {
    self.init(
      entity: pages.entity, property: nil,
      reason:
        "An interrupted change was only partly rolled back: SQLite can't reach these pages of the \"-journal\". Salvage the"
        + " version \(version) first.",
      rows: pages.rows, kind: .unknownContent)
  }

  /// Ignores the consent.
  package func isSame(as other: MigrationLoss) -> Bool {
    var other = other
    other.consent = consent
    return self == other
  }

  package init(
    entity: String, property: String?, reason: String, rows: Int64, links: Int64? = nil, consent: LossConsent? = nil,
    kind: Kind
  ) {
    self.entity = entity
    self.property = property
    self.reason = reason
    self.rows = rows
    self.links = kind.reported == .links && links != rows ? links : nil
    self.consent = consent
    self.kind = kind
  }
}

/// The source of a consent to a loss.
@nonexhaustive
public enum LossConsent: String, Hashable, Sendable, CaseIterable {
  /// A data decision that asks for the loss.
  case decision
  /// The delegate that approved the plan.
  case delegate
  /// The configuration that accepts all losses.
  case configuration
  /// The history's `lock.json` that acknowledges the loss.
  case lock
}
