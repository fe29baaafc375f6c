public import HeirloomStore

/// A part of the path from the first version of a model to the last: lightweight or custom.
///
/// It belongs to one task, as the code that it may carry does.
public class StoreMigrationStage {
  /// The app's name for the stage, for messages; empty by default.
  public let label: String

  fileprivate init(label: String) {
    self.label = label
  }
}

/// A stage of versions from which a mapping is inferred to the next stage, or to the current model.
public final class LightweightMigrationStage: StoreMigrationStage {
  /// The checksums of the versions.
  public let versionChecksums: [String]

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - versionChecksums: The checksums of the versions, each 44 characters of Base64.
  ///   - label: The app's name for the stage.
  public init(_ versionChecksums: [String], label: String = "") {
    self.versionChecksums = versionChecksums
    super.init(label: label)
  }
}

/// A stage from one version to the next in which code takes part.
///
/// The mapping is inferred, or one of those that the assistant was given.
/// Code runs before and after it, each time with a context on a private copy of the store.
/// An interrupted run starts anew from the store as it was, and nothing that a handler did is kept.
/// So a handler may not count on having run before, nor change anything but the objects of its context.
public final class CustomMigrationStage: StoreMigrationStage {
  /// The code of a stage, which changes objects in the context and saves them.
  ///
  /// The context is on the private copy, and ends with the call. The code is called on the thread that migrates, which
  /// isn't the one of the actor that wrote it.
  public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

  /// The version that the stage starts from.
  public let currentModel: ManagedObjectModelReference
  /// The version that the stage leads to.
  public let nextModel: ManagedObjectModelReference
  /// The code that runs before the stage's mapping, with a context on the current model.
  public var willMigrateHandler: Handler?
  /// The code that runs after the stage's mapping, with a context on the next model.
  public var didMigrateHandler: Handler?

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - currentModel: The version that the stage starts from.
  ///   - nextModel: The version that the stage leads to.
  ///   - label: The app's name for the stage.
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
extension StoreMigrationStage: Sendable {}
