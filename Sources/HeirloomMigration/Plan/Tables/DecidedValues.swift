import HeirloomMapping
import HeirloomModel
import HeirloomStore

struct DecidedValues: Sendable {
  private var missing: [[String]: AttributeValue] = [:]
  private var overflow: [[String]: AttributeValue] = [:]
  var computed = ComputedValues()
  /// At least one of these must have a value in a row that gets one, by place and source entity.
  private var companions: [[String]: [String: [String]]] = [:]

  mutating func fill(_ effect: DataEffect, with value: AttributeValue) {
    let place =
      [effect.entity]
      + (effect.properties.first?.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init) ?? [])
    if case .overflow = effect.kind { overflow[place] = value } else { missing[place] = value }
    for row in effect.rows where !row.companions.isEmpty {
      companions[place, default: [:]][row.entity] = row.companions
    }
  }

  func companions(atPath path: [String], of entity: String, in source: String) -> [[String]] {
    (companions[[entity] + path]?[source] ?? []).map {
      $0.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    }
  }

  var isEmpty: Bool { missing.isEmpty && overflow.isEmpty && computed.isEmpty }

  func concern(_ attribute: String, declaredBy entity: String) -> Bool {
    (Array(missing.keys) + Array(overflow.keys)).contains { $0.starts(with: [entity, attribute]) }
      || computed.concern(attribute, declaredBy: entity)
  }

  func missingValue(atPath path: [String], of entity: String) -> AttributeValue? { missing[[entity] + path] }

  /// `stored` is the quoted source column; `condition` that of rows that get a missing value.
  func apply(
    to entry: CellEntry, stored: String, path: [String], of entity: String, in source: String,
    leaf: AttributeDescription, where condition: String?
  ) -> CellEntry {
    var sql = entry.sql
    let computed = computed.value(atPath: path, of: entity, in: source)
    if let computed {
      let value = computed.sql
      sql = "COALESCE(\(sql), \(condition.map { "CASE WHEN (\($0)) THEN \(value) END" } ?? value))"
    }
    if let value = missing[[entity] + path] {
      let literal = ValueConversion.literal(value, for: leaf)
      let rows = [condition, computed?.refusal].compactMap(\.self)
      let value = rows.isEmpty ? literal : "CASE WHEN \(rows.map { "(\($0))" }.chained(by: "AND")) THEN \(literal) END"
      sql = "COALESCE(\(sql), \(value))"
    }
    if let value = overflow[[entity] + path], let condition = ValueConversion.overflow(stored, of: leaf.type) {
      sql = "CASE WHEN \(condition) THEN \(ValueConversion.literal(value, for: leaf)) ELSE \(sql) END"
    }
    guard sql != entry.sql else { return entry }
    var decided = entry.inside(sql)
    if let computed { note(computed, in: &decided, lacking: entry.sql, place: [entity] + path, where: condition) }
    if overflow[[entity] + path] != nil { decided.overflow = nil }
    return decided
  }

  /// Columns that only the expression reads are not copied in rows that have another value.
  private func note(
    _ computed: ComputedValues.Value, in decided: inout CellEntry, lacking value: String, place: [String],
    where condition: String?
  ) {
    guard computed.keeps else { return }
    let conditions = [
      value == CellEntry.null.sql ? nil : "(\(value)) IS NULL", condition.map { "(\($0))" },
      missing[place] == nil ? nil : "(\(computed.sql)) IS NOT NULL",
    ].compactMap(\.self)
    if let rounding = computed.rounding {
      decided.rounding = .init(
        columns: computed.read, condition: (conditions + ["(\(rounding))"]).chained(by: "AND"))
    }
    if conditions.isEmpty {
      decided.read.formUnion(computed.read)
    } else {
      decided.partlyRead = .init(columns: computed.read, condition: conditions.chained(by: "AND"))
    }
  }
}
