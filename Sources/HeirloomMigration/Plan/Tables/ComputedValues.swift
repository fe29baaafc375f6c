import HeirloomFormats
package import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// The expressions with which decisions fill rows, compiled for each source entity.
///
/// A row whose expression fails, or computes a value that the attribute can't hold, gets none: it
/// is counted as a row that doesn't fit.
final class ComputedValues: Sendable {
  /// An expression over the source row `s`.
  struct Value: Sendable {
    /// NULL where the expression has no value.
    let sql: String
    let read: Set<String>
    /// True if columns' values are kept, as they are or cast, rather than used to compute others.
    let keeps: Bool
    /// The condition of rows that need a value but get none.
    let refusal: String
    /// The condition of rows whose number the column rounds.
    let rounding: String?

    init(sql: String, read: Set<String>, keeps: Bool, mayLack: Bool, rounding: String?) {
      (self.sql, self.read, self.keeps, self.rounding) = (sql, read, keeps, rounding)
      // An optional attribute stays NULL if all columns that the expression reads are NULL.
      let isThere = read.ordered().map { "s.\(quote($0)) IS NOT NULL" }
      refusal = "(\(sql)) IS NULL" + (mayLack && !isThere.isEmpty ? " AND (\(isThere.chained(by: "OR")))" : "")
    }
  }

  private let values: [[String]: [String: Value]]
  /// In the order of the decisions.
  let effects: [DataEffect]

  init() { (values, effects) = ([:], []) }

  /// Throws ``MigrationError/unfitDecision(_:reason:)`` for an expression that no row can evaluate.
  init(
    _ decisions: [DataDecision], effects: [DataEffect], mapping: MappingModel, in crossing: Crossing,
    functions: [String: ExpressionEvaluator.Function], connection: Connection
  ) throws(MigrationError) {
    var (values, found): ([[String]: [String: Value]], [DataEffect]) = ([:], [])
    for decision in decisions {
      guard case .compute(let text) = decision.choice, let property = decision.properties.first,
        let target = crossing.destination.model.attributeTarget(property, of: decision.entity)
      else { continue }
      let place = [decision.entity] + target.path
      let known = effects.filter { $0.kind == .missingValue && $0.isAnswered(by: decision) }.flatMap(\.rows)
      // Effects don't include objects that a policy makes, or optional attributes.
      let new = mapping.entityMappings.compactMap { mapping -> DataEffect.Rows? in
        guard let flow = RowFlow(mapping, from: crossing.source.model, to: crossing.destination.model),
          crossing.destination.model.isEntity(flow.destination.name, kindOf: decision.entity),
          crossing.counts.byEntity[flow.source.name, default: 0] > 0, flow.isNew(target.path)
        else { return nil }
        return flow.rows([nil])
      }
      let rows = known + new.filter { row in !known.contains { $0.isOfSameObjects(as: row) } }
      guard !rows.isEmpty, values[place] == nil else { continue }
      let expression = try Self.expression(text, of: decision)
      // An optional attribute stays NULL where the expression's properties don't exist.
      let computable = rows.filter { row in
        !target.isOptional
          || decision.canBeComputed(from: row.entity, to: row.destinationEntity, in: crossing.source.model, functions)
      }
      for row in computable.isEmpty ? rows : computable where crossing.source.entity(named: row.entity) != nil {
        values[place, default: [:]][row.entity] = try Self.compile(
          expression, of: decision, for: target, row, in: crossing.source, functions, connection)
      }
      found.append(
        DataEffect(
          kind: .uncomputed, entity: decision.entity, properties: decision.properties,
          rows: computable.isEmpty ? rows : computable))
    }
    (self.values, self.effects) = (values, found)
  }

  func value(atPath path: [String], of entity: String, in source: String) -> Value? {
    values[[entity] + path]?[source]
  }

  /// The row gets a value if `isGiven`; else it needs one and gets none.
  func condition(of effect: DataEffect, _ row: DataEffect.Rows, isGiven: Bool) -> String? {
    let path = (effect.properties.first ?? "").names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    return value(atPath: path, of: effect.entity, in: row.entity).map {
      isGiven ? "(\($0.sql)) IS NOT NULL" : $0.refusal
    }
  }

  var isEmpty: Bool { values.isEmpty }

  /// True also for an element of the attribute.
  func concern(_ attribute: String, declaredBy entity: String) -> Bool {
    values.keys.contains { $0.starts(with: [entity, attribute]) }
  }

  func replacing(_ effects: [DataEffect]) -> [DataEffect] {
    effects.filter { effect in
      effect.kind != .missingValue
        || !self.effects.contains { $0.entity == effect.entity && $0.properties == effect.properties }
    } + self.effects
  }

  private static func expression(_ text: String, of decision: DataDecision) throws(MigrationError) -> ValueExpression {
    do throws(ExpressionError) {
      return try ValueExpression(parsing: text)
    } catch {
      throw .unfitDecision(decision, reason: "the expression can't be parsed: \(error)")
    }
  }

  private static func compile(
    _ expression: ValueExpression, of decision: DataDecision, for target: AttributeTarget, _ row: DataEffect.Rows,
    in source: PhysicalSchema, _ functions: [String: ExpressionEvaluator.Function], _ connection: Connection
  ) throws(MigrationError) -> Value {
    let identifiers = RowIdentifiers("\(row.entity).\(target.name)")
    let place = ExpressionPlace(
      computing: expression, of: target.name, from: row.entity, to: row.destinationEntity, in: source.model, functions
    ) { .value(.uuid(identifiers.next())) }
    do throws(MigrationError) {
      try place.check()
    } catch {
      guard case .invalidExpression(let invalid) = error else { throw error }
      throw .unfitDecision(decision, reason: invalid.cause)
    }
    var compiler = ExpressionCompiler(
      entity: row.entity, alias: "s", schema: source, database: SchemaName.store, connection: connection,
      evaluator: place.evaluator, rowVariable: "source", writesLiterals: true)
    do throws(CompilationProblem) {
      func stored(_ value: EvaluatedValue?) -> SQLiteValue {
        guard let fitted = try? value?.fitted(to: target.description), !target.description.type.isBeyond(fitted),
          let stored = try? ValueCoding.encode(fitted, for: target.description)
        else { return .null }
        return stored
      }
      let compiled = try compiler.compile(expression, for: target.description) { value, key in
        identifiers.begin(key)
        return stored(try? value())
      }
      let read = Set(compiler.columnsRead)
      var rounding: String?
      if compiled.isEvaluated, target.description.type.keepsDouble {
        rounding = try compiler.compile(expression, for: target.description) { value, _ in
          let value = try? value()
          return .integer(value?.isRounded == true && stored(value) != .null ? 1 : 0)
        }.sql
      }
      return Value(
        sql: compiled.isEvaluated ? compiled.sql : target.description.type.withinRange(compiled.sql), read: read,
        keeps: decision.pathKept != nil, mayLack: target.isOptional, rounding: rounding)
    } catch {
      throw .unfitDecision(
        decision, reason: "the expression can't be evaluated for a row; use a mapping instead. \(error)")
    }
  }
}

extension DataDecision {
  /// The source's path whose values are kept, as they are or cast.
  package var pathKept: String? {
    guard case .compute(let text) = choice, let expression = try? ValueExpression(parsing: text) else { return nil }
    return expression.pathKept
  }

  /// Rows that copy a value of their own keep it.
  package func givesDistinctValues(to rows: DataEffect.Rows, of effect: DataEffect) -> Bool {
    guard case .compute(let text) = choice, effect.entity == entity, let property = properties.first,
      let place = effect.properties.firstIndex(of: property), rows.properties.indices.contains(place)
    else { return false }
    return rows.properties[place] == nil && ["uuid()", "CAST(uuid(), \"NSString\")"].contains(text)
  }

  /// An expression may then give a value to all rows.
  package func isAboutNewAttribute(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    guard let path = destination.attributeTarget(properties.first ?? "", of: entity)?.path else { return false }
    return MappingInference(from: source, to: destination).draft.entityMappings.contains { mapping in
      guard let flow = RowFlow(mapping, from: source, to: destination) else { return false }
      return destination.isEntity(flow.destination.name, kindOf: entity) && flow.isNew(path)
    }
  }

  /// `destination` is the version that the decision is about.
  package func rounding(of type: AttributeType, in destination: ManagedObjectModel) -> DataEffect? {
    guard isComputed, type == .string || type == .integer64,
      let target = destination.attributeTarget(properties.first ?? "", of: entity)?.description.type, target.keepsDouble
    else { return nil }
    return DataEffect(kind: .rounded(to: target), entity: entity, properties: properties, rows: [])
  }

  package func canBeComputed(
    from start: String, to name: String?, in source: ManagedObjectModel,
    _ functions: [String: ExpressionEvaluator.Function]
  ) -> Bool {
    guard case .compute(let text) = choice, let expression = try? ValueExpression(parsing: text) else { return false }
    let place = ExpressionPlace(
      computing: expression, of: properties.first ?? "", from: start, to: name, in: source, functions
    ) { .null }
    return (try? place.check()) != nil
  }
}

extension ExpressionPlace {
  /// The expression may also call `uuid()`.
  fileprivate convenience init(
    computing expression: ValueExpression, of property: String, from start: String, to name: String?,
    in source: ManagedObjectModel, _ functions: [String: ExpressionEvaluator.Function],
    uuid: @escaping () -> EvaluatedValue
  ) {
    var functions = functions
    functions["uuid"] = { _, _ in uuid() }
    self.init(
      mapping: EntityMapping(from: start, to: name), property: PropertyMapping(property), expression: expression,
      source: source, functions: functions)
  }
}

/// New identifiers in each run, but the same each time that the run reads a row.
///
/// They must be the same because the proof computes the values again.
private final class RowIdentifiers {
  private let start: SHA256
  private var row: (key: Int64, calls: UInt32) = (0, 0)

  init(_ place: String) {
    var start = SHA256()
    start.update((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    start.update(place)
    self.start = start
  }

  func begin(_ key: Int64) { row = (key, 0) }

  func next() -> [UInt8] {
    var hash = start
    hash.update(littleEndian: row.key)
    hash.update(littleEndian: row.calls)
    row.calls += 1
    var bytes = Array(hash.finalize().prefix(16))
    // Version 8 of RFC 9562 leaves the other bits to the application.
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }
}

extension MappingModel {
  /// Leaves values to decided expressions where inference can't convert them; `nil` for none.
  package init?(
    computing decisions: [DataDecision], from source: ManagedObjectModel, to destination: ManagedObjectModel,
    functions: [String: ExpressionEvaluator.Function]
  ) {
    let decisions = decisions.filter(\.isComputed)
    guard !decisions.isEmpty else { return nil }
    let inference = MappingInference(from: source, to: destination)
    let mappings = inference.draft.entityMappings.compactMap { mapping -> EntityMapping? in
      guard let start = mapping.sourceEntityName, let name = mapping.destinationEntityName else { return nil }
      let obstacles = inference.obstacles.filter {
        $0.kind == .incompatibleTypes && destination.isEntity(name, kindOf: $0.entity)
      }
      let properties = obstacles.compactMap { obstacle in
        decisions.contains {
          $0.entity == obstacle.entity && $0.properties == [obstacle.property]
            && $0.canBeComputed(from: start, to: name, in: source, functions)
        } ? obstacle.property : nil
      }
      guard !properties.isEmpty else { return nil }
      var given = EntityMapping(
        from: mapping.sourceEntityName, to: name, name: mapping.name,
        attributeMappings: properties.map { PropertyMapping($0) })
      given.sourceEntityVersionHash = mapping.sourceEntityVersionHash
      given.destinationEntityVersionHash = mapping.destinationEntityVersionHash
      return given
    }
    guard !mappings.isEmpty else { return nil }
    self.init(entityMappings: mappings)
  }
}

extension AttributeType {
  /// Core Data stores decimal numbers as doubles too.
  fileprivate var keepsDouble: Bool { self == .double || self == .float || self == .decimal || self == .date }

  /// True for an infinite number, to which a text may overflow, or one that a `Float` can't hold.
  fileprivate func isBeyond(_ value: AttributeValue) -> Bool {
    switch value {
    case .double(let number), .date(let number):
      !number.isFinite || self == .float && number.magnitude > Double(Float.greatestFiniteMagnitude)
    default: false
    }
  }

  fileprivate func withinRange(_ sql: String) -> String {
    ValueConversion.overflow(sql, of: self).map { "CASE WHEN \($0) THEN NULL ELSE \(sql) END" } ?? sql
  }
}

extension ValueExpression {
  fileprivate var pathKept: String? {
    switch self {
    case .keyPath(.evaluatedObject, let path), .keyPath(.variable("source"), let path): path
    case .function(nil, FunctionSelector.cast, let arguments): arguments.first?.pathKept
    default: nil
    }
  }
}

extension EvaluatedValue {
  /// True for a number that a double can't hold exactly.
  fileprivate var isRounded: Bool {
    switch self {
    case .value(.integer(let number)): Int64(exactly: Double(number)) != number
    case .value(.decimal(let text)): !DecimalText.areEqual(text, "\(Double(text) ?? 0)")
    default: false
    }
  }
}

extension DataEffect.Rows {
  fileprivate func isOfSameObjects(as other: Self) -> Bool {
    entity == other.entity && destinationEntity == other.destinationEntity
  }
}
