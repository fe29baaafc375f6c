import Foundation
package import Heirloom

extension MigrationBlocker {
  /// Quoted for a shell; the plan's destination gives the types of example values.
  package func optionText(in plan: MigrationPlan) -> String {
    options(in: plan, among: choices).joined(separator: " or ")
  }

  /// Keeps each row of the blocker in the store; `nil` if no option does.
  package func mendingOption(in plan: MigrationPlan) -> String? {
    options(in: plan, among: [.fill, .new]).first
  }

  private func options(in plan: MigrationPlan, among wanted: [DataDecision.Option]) -> [String] {
    let place = entity + (property.map { ".\($0.replacingOccurrences(of: ", ", with: ","))" } ?? "")
    return choices.filter(wanted.contains).flatMap { choice -> [String] in
      switch choice {
      case .fill:
        return property.flatMap { plan.destination.attribute(at: $0, of: entity)?.type.example }.map { ["fill:\($0)"] }
          ?? []
      case .new: return plan.destination.newEntities(for: property ?? "", of: entity).prefix(3).map { "new:\($0)" }
      case .newest, .merge, .quarantine: return [choice.rawValue]
      }
    }.map { "--decide \(shellWord("\(place)=\($0)"))" }
  }
}

extension ManagedObjectModel {
  /// Those of which a new object can replace a missing link, in the model's order.
  package func newEntities(for relationship: String, of owner: String) -> [String] {
    guard let link = self.relationship(named: relationship, of: owner) else { return [] }
    return entities.map(\.name).filter { target in
      isEntity(target, kindOf: link.destinationEntity)
        && DataDecision(entity: owner, property: relationship, .link(newObjectOf: target)).isFit(for: self)
    }
  }
}

extension MappingObstacle {
  /// For the expression that the obstacle needs, quoted for a shell; `nil` if it needs none.
  package var optionText: String? {
    expression.map { "--decide \(shellWord("\(entity).\(property ?? "")=fill:=\($0)"))" }
  }
}

extension AttributeType {
  /// For a command line; `nil` for bytes and types without values.
  package var example: String? {
    switch ValueKind(self) {
    case .integer, .double, .decimal: "0"
    case .boolean: "no"
    case .date: "2001-01-01"
    case .uuid: "uuid()"
    default: isText ? "unknown" : nil
    }
  }
}

extension ManagedObjectModel {
  /// Also finds an element of a composite attribute.
  package func attribute(at path: String, of entity: String) -> AttributeDescription? {
    let names = path.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    var attribute = names.first.flatMap { self.attribute(named: $0, of: entity) }
    for name in names.dropFirst() { attribute = attribute?.composite?.elements.first { $0.name == name } }
    return attribute
  }
}

extension DecisionOutcome {
  package var words: String {
    let counts = [
      (filled, "filled"), (dropped, "dropped"), (merged, "merged"), (quarantined, "put into quarantine"),
    ].filter { $0.0 > 0 }.map { "\(counted($0.0, "row")) \($0.1)" }
    return "\(decision): \(counts.isEmpty ? "nothing to do" : counts.joined(separator: ", "))"
  }

  package var output: OutputValue {
    .object([
      ("decision", .text("\(decision)")), ("entity", .text(decision.entity)),
      ("properties", .texts(decision.properties)), ("choice", .text(decision.choice.option.rawValue)),
      ("filled", .integer(filled)), ("dropped", .integer(dropped)), ("merged", .integer(merged)),
      ("quarantined", .integer(quarantined)),
    ])
  }
}
