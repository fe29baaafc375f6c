public import HeirloomMigration

/// The answer of a delegate about a plan: whether to go on, what is decided, and what is agreed to.
///
/// Each part answers its own question. A decision about rows consents to no loss, and consent to losses says nothing
/// about a store that may come from a newer app.
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
  /// True if the plan is refused.
  let isRefusal: Bool
  /// The decisions about rows that don't fit, besides the configuration's.
  let decisions: [DataDecision]
  /// True if the losses of the plan are consented to.
  let consentsToLosses: Bool
  /// True if the store may lose something though its version isn't known, or comes after the current one.
  let acceptsUnknownVersion: Bool

  /// Goes on by the configuration's rules; decides nothing and consents to nothing.
  ///
  /// Rows that don't fit stop the migration, and so do losses of a store whose version the history doesn't know.
  /// ``MigrationAssistant/Configuration/losses`` says what becomes of other losses.
  public static let automatic: MigrationDecision = .proceed()

  /// Refuses to migrate; the store stays as it is.
  public static let refuse: MigrationDecision = MigrationDecision(
    isRefusal: true, decisions: [], consentsToLosses: false, acceptsUnknownVersion: false)

  /// Goes on, with answers to what would stop the migration; without any, it is ``automatic``.
  ///
  /// - Parameters:
  ///   - decisions: The decisions about rows that don't fit, besides those of
  ///     ``MigrationAssistant/Configuration/decisions``. The plan is made again with them and carried out.
  ///   - consentsToLosses: True to consent to the losses that the plan lists. Those that only a later plan has, of the
  ///     next hop or of a store that was written to meanwhile, are asked about again.
  ///   - acceptsUnknownVersion: True to migrate a store that would lose something although the history doesn't know its
  ///     version: a newer release of the app may have made it, and what is lost is then missing there.
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
