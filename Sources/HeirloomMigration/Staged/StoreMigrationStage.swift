public import HeirloomStore

/// A part of the path from a model's first version to its last: lightweight or custom.
///
/// It belongs to one task, as its code does.
public class StoreMigrationStage {
  /// The app's name for the stage in messages; empty by default.
  public let label: String

  fileprivate init(label: String) {
    self.label = label
  }
}

/// A stage of versions from which mappings to the next stage, or to the current model, are inferred.
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
/// The mapping is inferred, or one of those that the assistant was given. Code runs before and after it, each time with
/// a context on a private copy of the store. An interrupted run starts again from the unchanged store, and discards all
/// changes of a handler. So a handler must not depend on an earlier run, or change anything but the objects of its
/// context.
public final class CustomMigrationStage: StoreMigrationStage {
  /// The code of a stage, which changes objects in the context and saves them.
  ///
  /// The context is on the private copy, and is valid only during the call. The code is called on the migrating thread,
  /// not on the actor that defined it.
  public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

  /// The version at which the stage starts.
  public let currentModel: ManagedObjectModelReference
  /// The version at which the stage ends.
  public let nextModel: ManagedObjectModelReference
  /// The code that runs before the stage's mapping, with a context on the current model.
  public var willMigrateHandler: Handler?
  /// The code that runs after the stage's mapping, with a context on the next model.
  public var didMigrateHandler: Handler?

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - currentModel: The version at which the stage starts.
  ///   - nextModel: The version at which the stage ends.
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

/// A stage belongs to one task, because its code does.
@available(*, unavailable)
extension StoreMigrationStage: Sendable {}
