import HeirloomModel

extension PhysicalSchemaBuilder {
  private enum Derivation {
    case now
    case value(key: String, destination: String, column: String)
    case count(RelationshipStorage)
  }

  func makeTriggers() {
    for physical in entities {
      guard let entity = model.entity(named: physical.name) else { continue }
      for attribute in entity.attributes where !attribute.isTransient {
        guard let description = attribute.derivation,
          let column = columns(ofProperty: attribute.name, in: entity.name).first
        else { continue }
        guard description.filteringPredicate == nil,
          let derivation = derivation(description.derivationExpression, in: entity.name)
        else {
          underivedAttributes.append([entity.name, attribute.name])
          continue
        }
        let writer = TriggerWriter(
          table: physical.table, entity: entity.name, attribute: attribute.name, column: column,
          numbers: physical.superentityNumber == 0 ? nil : physical.treeNumbers)
        switch derivation {
        case .now: triggers += writer.now()
        case .value(let key, let destination, let source):
          triggers += writer.value(key: key, destination: destination, source: source)
        case .count(.inverseKey(let table, let key, _, _)), .count(.inverselessKey(let table, let key, _)):
          triggers += writer.count(links: table, key: key)
        case .count(.join(let table, let owner, _, _)):
          triggers += writer.count(links: table, key: owner)
        case .count(.key):
          underivedAttributes.append([entity.name, attribute.name])
        }
      }
    }
  }

  private func derivation(_ expression: ValueExpression, in entity: String) -> Derivation? {
    switch expression {
    case .function(_, let selector, let arguments) where arguments.isEmpty && (selector == "now" || selector == "now:"):
      return .now
    case .function(_, "count:", let arguments) where arguments.count == 1:
      guard case .keyPath(operand: .evaluatedObject, let path) = arguments[0] else { return nil }
      return count(path, in: entity)
    case .keyPath(operand: .evaluatedObject, let path):
      let parts = path.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
      guard parts.count == 2 else { return nil }
      if parts[1] == "@count" { return count(parts[0], in: entity) }
      guard case .relationship(.key(_, let key, _)) = storages[entity]?[parts[0]],
        let relationship = model.relationship(named: parts[0], of: entity),
        case .attribute(let columns) = storages[relationship.destinationEntity]?[parts[1]], columns.count == 1
      else { return nil }
      return .value(key: key, destination: columns[0].table, column: columns[0].name)
    default:
      return nil
    }
  }

  private func count(_ relationship: String, in entity: String) -> Derivation? {
    guard case .relationship(let storage) = storages[entity]?[relationship] else { return nil }
    return .count(storage)
  }
}

private struct TriggerWriter {
  let table: String
  let entity: String
  let attribute: String
  let column: String
  /// Of the entities that have the attribute; `nil` if the table holds no others.
  let numbers: ClosedRange<Int>?

  private var own: String { bareIdentifier(table) }
  private var value: String { bareIdentifier(column) }
  private let key = PhysicalName.primaryKey

  init(table: String, entity: String, attribute: String, column: String, numbers: ClosedRange<Int>?) {
    self.table = table
    self.entity = entity
    self.attribute = attribute
    self.column = column
    self.numbers = numbers
  }

  private func isOwn(_ row: String) -> String? {
    let number = row + PhysicalName.entity
    return numbers.map { "\($0.lowerBound) <= \(number) AND \(number) <= \($0.upperBound)" }
  }

  private func rows(where condition: String) -> String {
    isOwn("").map { "\(condition) AND \($0)" } ?? condition
  }

  func now() -> [PhysicalTrigger] {
    let update = "UPDATE \(own) SET \(value) = \(PhysicalName.nowFunction)() WHERE \(key) = NEW.\(key);"
    return [
      source("INSERT", "AFTER INSERT", update, isInsertion: true),
      source("UPDATE", "AFTER UPDATE OF \(PhysicalName.optimisticLock)", update, isInsertion: false),
    ]
  }

  func value(key link: String, destination: String, source column: String) -> [PhysicalTrigger] {
    let link = bareIdentifier(link)
    let column = bareIdentifier(column)
    let fetched =
      "UPDATE \(own) SET \(value) = (SELECT \(column) FROM \(bareIdentifier(destination))"
      + " WHERE \(key) = NEW.\(link)) WHERE \(key) = NEW.\(key);"
    let affected = rows(where: "\(link) = NEW.\(key)")
    let pushed = "UPDATE \(own) SET \(value) = NEW.\(column) WHERE \(affected);"
    return [
      trigger("PARAMETER_INSERT", on: destination, "AFTER INSERT", nil, pushed, affected: affected),
      trigger("PARAMETER_UPDATE", on: destination, "AFTER UPDATE OF \(column)", nil, pushed, affected: affected),
      source("SOURCE_INSERT", "AFTER INSERT", fetched, isInsertion: true),
      source("SOURCE_UPDATE", "AFTER UPDATE OF \(link)", fetched, isInsertion: false),
    ]
  }

  func count(links: String, key link: String) -> [PhysicalTrigger] {
    let link = bareIdentifier(link)
    let recount =
      "UPDATE \(own) SET \(value) = (SELECT IFNULL(COUNT(\(link)), 0) FROM \(bareIdentifier(links))"
      + " WHERE \(link) = NEW.\(key)) WHERE \(key) = NEW.\(key);"
    func change(_ suffix: String, _ event: String, _ row: String, _ expression: String) -> PhysicalTrigger {
      let affected = rows(where: "\(key) = \(row).\(link)")
      return trigger(
        suffix, on: links, event, "(\(row).\(link) NOT NULL)",
        "UPDATE \(own) SET \(value) = \(expression) WHERE \(affected);", affected: affected)
    }
    return [
      change("PARAMETER_INSERT", "AFTER INSERT", "NEW", "IFNULL(\(value), 0) + 1"),
      change("PARAMETER_UPDATE_INCREMENT", "AFTER UPDATE OF \(link)", "NEW", "\(value) + 1"),
      change("PARAMETER_UPDATE_DECREMENT", "AFTER UPDATE OF \(link)", "OLD", "\(value) - 1"),
      change("PARAMETER_DELETE", "AFTER DELETE", "OLD", "\(value) - 1"),
      source("SOURCE_INSERT", "AFTER INSERT", recount, isInsertion: true),
    ]
  }

  private func source(_ suffix: String, _ event: String, _ change: String, isInsertion: Bool) -> PhysicalTrigger {
    trigger(
      suffix, on: table, event, isOwn("NEW."), change, affected: "\(key) = NEW.\(key)", isInsertion: isInsertion)
  }

  /// The change, then the report of what changed, as Core Data writes it.
  private func trigger(
    _ suffix: String, on followed: String, _ event: String, _ condition: String?, _ change: String, affected: String,
    isInsertion: Bool = false
  ) -> PhysicalTrigger {
    let name = "\(PhysicalName.derivedTriggerPrefix)\(followed)_\(entity)_\(attribute)_\(suffix)"
    let report =
      isInsertion ? PhysicalName.insertUpdatedAffectedObjectValue : PhysicalName.updatedAffectedObjectValue
    let when = condition.map { " WHEN \($0)" } ?? ""
    let arguments = [
      quoteLiteral(table), PhysicalName.entity, key, quoteLiteral(attribute), value,
    ].joined(separator: ", ")
    return PhysicalTrigger(
      name: name, table: followed, entity: entity, property: attribute,
      sql: "CREATE TRIGGER \(bareIdentifier(name)) \(event) ON \(bareIdentifier(followed)) FOR EACH ROW\(when) BEGIN"
        + " \(change) SELECT \(report)(\(arguments)) FROM \(own) WHERE \(affected); END")
  }
}
