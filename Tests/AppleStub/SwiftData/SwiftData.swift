// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// As much of SwiftData as shows that its names and Heirloom's can be used in one file. (From Apple's documentation.)
public import Foundation

public protocol PersistentModel: AnyObject {}

public protocol VersionedSchema {
  static var models: [any PersistentModel.Type] { get }
}

public protocol SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { get }
  static var stages: [MigrationStage] { get }
}

public enum MigrationStage {
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
}

public final class Schema: Sendable {
  public init(_ types: [any PersistentModel.Type]) {}
}

public struct ModelConfiguration: Sendable {
  public init(url: URL) {}
}

public final class ModelContainer: Sendable {
  public init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?, configurations: ModelConfiguration...
  ) throws {}
}
