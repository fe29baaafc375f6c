import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The values that go on changed, counted where they are written: converting back would not give them again.
struct ConvertedCells {
  let source: PhysicalSchema
  let destination: PhysicalSchema

  /// Asks how many values of the rows of some entities are others afterwards.
  ///
  /// - Parameters:
  ///   - questions: The questions to add to.
  ///   - columns: The columns of the destination with the expression that gives each.
  ///   - table: The table of these columns.
  ///   - sourceTable: The table of the store.
  ///   - numbers: The entity numbers of the rows there.
  ///   - condition: The condition that the rows meet, over the row `s`; `nil` for all.
  func ask(
    _ questions: inout StoreQuestions, about columns: [(name: String, expression: ColumnExpression)], of table: String,
    from sourceTable: String, numbers: [Int], where condition: String? = nil
  ) {
    let rows = [
      "s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))", condition,
    ].compactMap { $0 }.joined(separator: " AND ")
    for (name, expression) in columns {
      guard let change = expression.change, let column = destination.table(named: table)?.column(named: name),
        case .attribute(let entity, let path) = column.role
      else { continue }
      let property = path.joined(separator: ".")
      let target = destination.column(atPath: path, in: entity)?.attribute.type
      let origin = expression.origin.flatMap { type(of: $0, in: sourceTable) }
      let effect = DataEffect(
        kind: .valuesChanged(from: origin ?? .undefined, to: target ?? .undefined), entity: entity,
        properties: [property], rows: [])
      questions.count(where: "\(rows) AND (\(change))", in: sourceTable) { rows in
        .loss(
          MigrationLoss(
            entity: entity, property: property, reason: effect.description, rows: rows, kind: .changedValues))
      }
    }
  }

  private func type(of column: String, in table: String) -> AttributeType? {
    guard case .attribute(let entity, let path)? = source.table(named: table)?.column(named: column)?.role else {
      return nil
    }
    return source.column(atPath: path, in: entity)?.attribute.type
  }
}
