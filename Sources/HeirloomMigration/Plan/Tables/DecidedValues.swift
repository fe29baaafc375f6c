import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The values that rows get by decision.
struct DecidedValues: Sendable {
  private var missing: [[String]: AttributeValue] = [:]
  private var overflow: [[String]: AttributeValue] = [:]
  /// The values that expressions compute.
  var computed = ComputedValues()
  /// The source attributes at least one of which must have a value in a row that gets one, by place and source entity.
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

  /// Returns the source attributes at least one of which must have a value in rows that get one; none for all rows.
  func companions(atPath path: [String], of entity: String, in source: String) -> [[String]] {
    (companions[[entity] + path]?[source] ?? []).map {
      $0.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    }
  }

  var isEmpty: Bool { missing.isEmpty && overflow.isEmpty && computed.isEmpty }

  /// Returns true if decisions give values to an attribute or to one of its elements.
  func concern(_ attribute: String, declaredBy entity: String) -> Bool {
    (Array(missing.keys) + Array(overflow.keys)).contains { $0.starts(with: [entity, attribute]) }
      || computed.concern(attribute, declaredBy: entity)
  }

  /// Returns the decided value for rows without one.
  func missingValue(atPath path: [String], of entity: String) -> AttributeValue? { missing[[entity] + path] }

  /// Adds decided values to the entry of a column; without a decision, the entry is returned unchanged.
  ///
  /// `stored` is the quoted source column over the source row `s`, and `path` the destination's attribute and elements.
  /// `entity` declares the attribute, and `leaf` is the one at the path. `condition` is that of the rows that get a
  /// missing value, as SQL; `nil` for all.
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

  /// Records the columns that a computed value reads, in the rows that get it.
  ///
  /// Other rows have a value of their own or another decision; columns that only the expression reads are not copied
  /// there.
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
