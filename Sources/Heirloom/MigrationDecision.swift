public import HeirloomMigration

/// A delegate's answer to a plan: whether to continue, with decisions and consents.
///
/// The parts are independent. A decision about rows consents to no loss, and consent to losses doesn't
/// accept a store that may come from a newer app.
///
/// ```swift
/// let answers: [MigrationDecision] = [
///   .automatic,  // the configuration's rules
///   .proceed(deciding: [DataDecision(entity: "Note", property: "author", .fill(.string("unknown")))]),
///   .proceed(consentingToLosses: true),  // agrees to every loss of this plan
///   .refuse,  // leaves the store as it is
/// ]
/// ```
public struct MigrationDecision: Hashable, Sendable {
  let isRefusal: Bool
  let decisions: [DataDecision]
  let consentsToLosses: Bool
  let acceptsUnknownVersion: Bool

  /// Continues by the configuration's rules; decides nothing and consents to nothing.
  ///
  /// Rows that don't fit stop the migration, and so do losses of a store whose version the history doesn't have.
  /// ``MigrationAssistant/Configuration/losses`` applies to other losses.
  public static let automatic: MigrationDecision = .proceed()

  /// Refuses to migrate; the store is unchanged.
  public static let refuse: MigrationDecision = MigrationDecision(
    isRefusal: true, decisions: [], consentsToLosses: false, acceptsUnknownVersion: false)

  /// Continues, with decisions and consents that prevent the migration from stopping; without any, it is ``automatic``.
  ///
  /// - Parameters:
  ///   - decisions: The decisions about rows that don't fit, besides those of
  ///     ``MigrationAssistant/Configuration/decisions``. The plan is made again with them and carried out.
  ///   - consentsToLosses: True to consent to the losses that the plan lists. The delegate is asked again about losses
  ///     that only a later plan has, of the next hop or of a store that was written to meanwhile.
  ///   - acceptsUnknownVersion: True to migrate a store that would lose content although the history doesn't have its
  ///     version. If a newer release of the app made the store, that release will miss the lost content.
  /// - Returns: The decision.
  public static func proceed(
    deciding decisions: [DataDecision] = [], consentingToLosses consentsToLosses: Bool = false,
    acceptingUnknownVersion acceptsUnknownVersion: Bool = false
  ) -> MigrationDecision {
    MigrationDecision(
      isRefusal: false, decisions: decisions, consentsToLosses: consentsToLosses,
      acceptsUnknownVersion: acceptsUnknownVersion)
  }
}
