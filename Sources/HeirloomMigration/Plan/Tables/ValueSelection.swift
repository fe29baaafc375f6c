import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The query for values that SQL can compute: copied, converted, filled or constant.
///
/// The last column is the index, from 0, of the first value that its column's type can't hold.
struct ValueSelection: Hashable, Sendable {
  let sql: String
  let columns: [String]
  let entries: [CellEntry]

  /// Uses the planner for mappings without policies, so that both compute the same values.
  init?(
    of mapping: EntityMapping, in crossing: Crossing, decided: DecidedValues, connection: Connection
  ) throws {
    let (source, destination) = (crossing.source, crossing.destination)
    guard let sourceName = mapping.sourceEntityName, let destinationName = mapping.destinationEntityName,
      let sourceTable = source.table(ofEntity: sourceName),
      let table = destination.table(ofEntity: destinationName),
      let number = source.entity(named: sourceName)?.number
    else { return nil }
    var plain = EntityMapping(
      from: sourceName, to: destinationName, name: mapping.name, mappingType: .transform,
      attributeMappings: mapping.attributeMappings.filter { property in
        CompiledMappings.expression(of: property, in: mapping, source.model, destination.model) == nil
      })
    plain.userInfo = mapping.userInfo
    let routing = try EntityRouting(
      mapping: MappingModel(entityMappings: [plain]), compiled: CompiledMappings(), source: source,
      destination: destination,
      counts: StoreCounts(), connection: connection)
    guard let tree = routing.trees.first(where: { $0.sourceRoot != nil }) else { return nil }
    var planner = TreePlanner(
      tree: tree, crossing: crossing.uncounted(by: routing), links: LinkTables(), decided: decided)
    guard let transfer = planner.transfer(table: table) else { return nil }
    let model = destination.model
    var columns: [String] = []
    var entries: [CellEntry] = []
    let mappings = Dictionary(mapping.attributeMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for column in table.columns {
      guard case .attribute(let entity, let path) = column.role, model.isEntity(destinationName, kindOf: entity),
        let entry = transfer.columns.first(where: { $0.name == column.name })?.entry
      else { continue }
      let isGiven: Bool
      if model.attribute(named: path[0], of: entity)?.derivation?.isTimeOfChange ?? false {
        // No property mapping copies the time of the last change.
        isGiven = entry.origin != nil
      } else if let property = mappings.value(forLongestBeginningOf: path)?.value {
        isGiven =
          (property.valueExpression != nil || decided.missingValue(atPath: path, of: entity) != nil
            || decided.computed.value(atPath: path, of: entity, in: sourceName) != nil)
          && plain.attributeMappings.contains(property)
      } else {
        isGiven = false
      }
      guard isGiven else { continue }
      columns.append(column.name)
      entries.append(entry)
    }
    guard !columns.isEmpty else { return nil }
    self.columns = columns
    self.entries = entries
    // Overflows can't be decided on before a policy runs, so they are detected here.
    let overflows = entries.enumerated().compactMap { place, entry in
      entry.overflow.map { "WHEN \($0) THEN \(place)" }
    }
    let unfit = overflows.isEmpty ? "NULL" : "CASE \(overflows.joined(separator: " ")) END"
    sql =
      "SELECT \(entries.map(\.sql).joined(separator: ", ")), \(unfit) FROM \(SchemaName.rows(of: sourceTable.name, as: "s"))"
      + " WHERE s.\(quote(PhysicalName.primaryKey)) = ?1 AND s.\(quote(PhysicalName.entity)) = \(number)"
  }
}
