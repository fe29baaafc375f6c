import HeirloomFormats

/// What is written beside a frozen schema: the next one, and the stage between them.
package struct FrozenSuccession: Sendable {
  /// The name of the next schema.
  package let next: String
  /// The next schema with the classes of today; `nil` where no source tells them.
  package let schema: String?
  /// The plan, where there is none yet.
  package let plan: String?
  /// The entry of the plan's list of schemas.
  package let entry: String
  /// The name of the stage.
  package let stageName: String
  /// The stage, as a member of the plan.
  package let stage: String

  /// Writes what follows on a frozen schema.
  ///
  /// - Parameters:
  ///   - frozen: The frozen schema.
  ///   - classes: The full names of the classes of today; empty where no source tells them.
  ///   - names: The names of the plan's schemas; `nil` without a plan.
  ///   - kind: The kind of the stage.
  package init(
    after frozen: FrozenSchema, classes: [String], schemas names: [String]?, stage kind: SwiftDataSchemas.Stage.Kind
  ) {
    let name = frozen.name
    let next = VersionNaming.next(after: name, among: []) { names?.contains($0) == true }
      .filter { $0 != " " }
    let first = name.prefix(1).lowercased() + name.dropFirst()
    (self.next, stageName) = (next, "\(first)To\(next)")
    entry = "\(next).self"
    let versions = "fromVersion: \(name).self, toVersion: \(next).self"
    let body =
      switch kind {
      case .lightweight: [".lightweight(\(versions))"]
      case .custom:
        [
          ".custom(", "  \(versions),", "  willMigrate: { context in",
          "    // The store still has the classes of \(name): no others can be used here.", "    try context.save()",
          "  },", "  didMigrate: { context in",
          "    // The store has the classes of \(next) now: no others can be used here.", "    try context.save()",
          "  }", ")",
        ]
      }
    let stage = ["static var \(stageName): MigrationStage {"] + body.map { "  \($0)" } + ["}"]
    self.stage = stage.joined(separator: "\n")
    let number = (Int(frozen.identifier.prefix { $0 != "." }) ?? 0) + 1
    let list = classes.map { "\($0).self" }.joined(separator: ", ")
    schema =
      classes.isEmpty
      ? nil
      : """
      enum \(next): VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(\(number), 0, 0) }
        static var models: [any PersistentModel.Type] { [\(list)] }
      }
      """
    plan =
      names != nil || classes.isEmpty
      ? nil
      : """
      enum MigrationPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [\(name).self, \(next).self] }
        static var stages: [MigrationStage] { [\(stageName)] }

      \(stage.map { "  \($0)" }.joined(separator: "\n"))
      }
      """
  }
}

extension SwiftDataSchemas {
  /// Returns the schema of the app as it is: the last one of its plan, or the only one.
  ///
  /// - Throws: ``FreezingError`` where the source doesn't tell which one that is.
  package func currentSchema() throws(FreezingError) -> Schema {
    if plans.count == 1, let last = plans[0].schemas.last {
      let faults = plans[0].faults.map { ($0.place.map { "\(source.text($0)): " } ?? "") + $0.reason }
      guard faults.isEmpty else { throw FreezingError(reasons: faults) }
      return schema(of: [last])
    }
    if schemas.count == 1 { return schemas[0] }
    let found = schemas.map { "\($0.name)\($0.place.map { " (\(source.text($0)))" } ?? "")" }
    throw FreezingError(reasons: [
      found.isEmpty
        ? "no schema and no container lists classes"
        : "it can't be told which of several schemas is the current one: \(found.joined(separator: ", "))"
    ])
  }

  /// Returns true for a versioned schema in which all of its types are declared.
  package func isFrozen(_ schema: Schema) -> Bool {
    guard schema.kind == .versionedSchema, schema.faults.isEmpty else { return false }
    return FrozenSourceReader(schema, of: source, name: schema.name)
      .isNested(in: schema.name.split(separator: ".").map(String.init))
  }

  /// Returns the full names of the classes that a schema lists.
  package func classNames(of schema: Schema) -> [String] { schema.roots.map { $0.path.joined(separator: ".") } }

  /// Returns the places where a type of a name is declared, other than a schema of it.
  package func places(ofType name: String, besides schema: Schema) -> [SwiftPlace] {
    source.declarations.filter { $0.path == [name] && $0.place != schema.place }.map(\.place)
  }
}
