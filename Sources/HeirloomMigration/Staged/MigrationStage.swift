/// A part of the way from the first version of a model to the last: lightweight or custom.
///
/// It belongs to one task, as the code that it may carry does.
public class MigrationStage {
  /// What the app calls the stage, for messages; empty by default.
  public let label: String

  fileprivate init(label: String) {
    self.label = label
  }
}

/// Versions from which a mapping is inferred: to the stage that comes next, or to the current model.
public final class LightweightMigrationStage: MigrationStage {
  /// The checksums of the versions.
  public let versionChecksums: [String]

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - versionChecksums: The checksums of the versions, each 44 characters of Base64.
  ///   - label: What the app calls the stage.
  public init(_ versionChecksums: [String], label: String = "") {
    self.versionChecksums = versionChecksums
    super.init(label: label)
  }
}

/// A step from one version to the next in which code takes part.
///
/// The mapping is inferred, or one of those that the assistant was given. Code runs before and after it, each time with a
/// context on a private copy of the store. A run that was interrupted starts anew from the store as it was: nothing that a
/// handler did is kept, so it may not count on having run before, nor change anything but the objects of its context.
public final class CustomMigrationStage: MigrationStage {
  /// Code of a stage: it changes objects in ``StagedMigrationManager/context`` and saves them.
  public typealias Handler = (StagedMigrationManager, CustomMigrationStage) throws -> Void

  /// The version that the stage starts from.
  public let currentModel: ManagedObjectModelReference
  /// The version that it leads to.
  public let nextModel: ManagedObjectModelReference
  /// Runs before the step, with a context on the current model.
  public var willMigrateHandler: Handler?
  /// Runs after the step, with a context on the next model.
  public var didMigrateHandler: Handler?

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - currentModel: The version that it starts from.
  ///   - nextModel: The version that it leads to.
  ///   - label: What the app calls the stage.
  public init(
    migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference,
    label: String = ""
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init(label: label)
  }
}

/// A stage belongs to one task: its code does.
@available(*, unavailable)
extension MigrationStage: Sendable {}
