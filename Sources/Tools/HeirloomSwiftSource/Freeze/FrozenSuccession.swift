import HeirloomFormats

/// The declarations to paste beside a frozen schema: the next one, and the stage between them.
package struct FrozenSuccession: Sendable {
  /// Of the next schema.
  package let next: String
  /// For the plan's list of schemas: the next schema, or the frozen one if the next is already
  /// listed.
  package let entry: String
  package let stage: String
  package let text: String

  /// `known` is the next schema's name if it is already declared.
  ///
  /// `classes` are the full names of the current ones, empty if no source declares them.
  package init(
    after frozen: FrozenSchema, before known: String? = nil, classes: [String], plan: SwiftDataSchemas.Plan?,
    stage kind: SwiftDataSchemas.Stage.Kind
  ) {
    let name = frozen.name
    let words = VersionNaming.next(after: name, among: []) { plan?.schemas.contains($0) == true }
    let next = known ?? words.filter { $0 != " " }
    let stage = name.prefix(1).lowercased() + name.dropFirst() + "To" + next.split(separator: ".").joined()
    let versions = "fromVersion: \(name).self, toVersion: \(next).self"
    let call =
      switch kind {
      case .lightweight: "    .lightweight(\(versions))"
      case .custom:
        """
            .custom(
              \(versions),
              willMigrate: { context in
                // The store has the classes of \(name) here: no others can be used.
                try context.save()
              },
              didMigrate: { context in
                // The store has the classes of \(next) here: no others can be used.
                try context.save()
              }
            )
        """
      }
    let member = "  static var \(stage): MigrationStage {\n\(call)\n  }"
    let number = (Int(frozen.identifier.prefix { $0 != "." }) ?? 0) + 1
    let schema = """
      enum \(next): VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(\(number), 0, 0) }
        static var models: [any PersistentModel.Type] { [\(classes.map { "\($0).self" }.joined(separator: ", "))] }
      }
      """
    let lists = """
      enum MigrationPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [\(name).self, \(next).self] }
        static var stages: [MigrationStage] { [\(stage)] }

      \(member)
      }
      """
    self.next = next
    self.stage = stage
    entry = known == nil ? "\(next).self" : "\(name).self"
    text = [
      known == nil && !classes.isEmpty ? schema : "", plan.map { "extension \($0.name) {\n\(member)\n}" } ?? lists,
    ]
    .filter { !$0.isEmpty }.joined(separator: "\n\n")
  }
}

extension SwiftDataSchemas {
  /// The last schema of the app's plan, or the only one.
  package func currentSchema() throws(FreezingError) -> Schema {
    if plans.count == 1, let last = plans[0].schemas.last {
      guard plans[0].hasAllSchemas else { throw FreezingError(reasons: texts(of: plans[0].faults)) }
      return schema(of: [last])
    }
    if plans.isEmpty, schemas.count == 1 { return schemas[0] }
    let found = schemas.map { "\($0.name)\($0.place.map { " (\(source.text($0)))" } ?? "")" }
    throw FreezingError(reasons: [
      found.isEmpty
        ? "no schema and no container lists classes"
        : "the source doesn't determine the current schema among these: \(found.joined(separator: ", "))"
    ])
  }

  func texts(of faults: [Fault]) -> [String] {
    faults.map { fault in (fault.place.map { "\(source.text($0)): " } ?? "") + fault.reason }
  }

  package func isFrozen(_ schema: Schema) -> Bool {
    guard schema.kind == .versionedSchema, schema.faults.isEmpty else { return false }
    return FrozenSourceReader(SwiftDataModelBuilder(of: schema.roots, in: source), of: source, name: schema.name)
      .isNested(in: schema.name.split(separator: ".").map(String.init))
  }

  package func classNames(of schema: Schema) -> [String] { schema.roots.map { $0.path.joined(separator: ".") } }

  /// Of other top-level declarations with the name.
  package func places(ofType name: String, besides schema: Schema) -> [SwiftPlace] {
    source.declarations.filter { $0.path == [name] && $0.place != schema.place }.map(\.place)
  }
}
