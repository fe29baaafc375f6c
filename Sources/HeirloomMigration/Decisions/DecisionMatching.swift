import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The blockers that decisions answer.
struct DecisionMatching {
  /// The decisions, in the order in which they were given.
  let decisions: [DataDecision]
  private var indexes: [Place: Int] = [:]

  /// A place where something may have to be decided.
  private struct Place: Hashable {
    let kind: String
    let entity: String
    let properties: Set<String>
  }

  /// Matches decisions with the possible blockers.
  ///
  /// - Parameters:
  ///   - decisions: The decisions.
  ///   - effects: The possible losses, blockers and warnings, as the models tell.
  ///   - destination: The destination.
  /// - Throws: ``MigrationError/unfitDecision(_:reason:)`` for a decision that answers nothing,
  ///   or only what others answer.
  init(
    _ decisions: [DataDecision], effects: [DataEffect], destination: PhysicalSchema
  ) throws(MigrationError) {
    self.decisions = decisions
    guard !decisions.isEmpty else { return }
    var used: Set<Int> = []
    for index in decisions.indices {
      for (kind, place) in Self.questions(at: decisions[index], effects: effects, model: destination.model)
      where indexes[place] == nil {
        let answers = decisions.indices.filter { other in
          decisions[other].entity == decisions[index].entity
            && Set(decisions[other].properties) == Set(decisions[index].properties)
            && kind.options.contains(decisions[other].choice.option)
        }
        // A decision that fits everything leaves blockers to others that are meant for them.
        let meant = answers.filter { decisions[$0].choice != .quarantine }
        guard let answer = meant.first ?? answers.first else { continue }
        guard meant.count <= 1, !meant.isEmpty || answers.count == 1 else {
          throw .unfitDecision(decisions[answers[1]], reason: "\(decisions[answers[0]]) answers the same")
        }
        indexes[place] = answer
        used.insert(answer)
      }
    }
    for index in decisions.indices {
      let decision = decisions[index]
      if !used.contains(index) {
        throw .unfitDecision(
          decision, reason: Self.objection(to: decision, effects: effects, model: destination.model))
      }
      try Self.check(decision, destination: destination)
    }
  }

  /// Returns the number of the decision about a blocker; `nil` if there is none.
  func decision(about kind: DataEffect.Kind, of entity: String, _ properties: [String]) -> Int? {
    indexes[Place(kind: kind.code, entity: entity, properties: Set(properties))]
  }

  /// Returns the blockers that are possible at the place that a decision names.
  private static func questions(
    at decision: DataDecision, effects: [DataEffect], model: ManagedObjectModel
  ) -> [(kind: DataEffect.Kind, place: Place)] {
    let properties = Set(decision.properties)
    var kinds = effects.filter {
      $0.kind.severity == .blocker && $0.entity == decision.entity && Set($0.properties) == properties
    }.map(\.kind)
    // Decisions may cause further blockers, though the models alone don't say so.
    let entity = model.entity(named: decision.entity)
    if entity?.uniquenessConstraints.contains(where: { Set($0) == properties }) ?? false { kinds.append(.duplicate) }
    if let name = decision.properties.first, properties.count == 1,
      let relationship = entity?.relationships.first(where: { $0.name == name }), relationship.isRequiredKey
    {
      kinds.append(.missingLink(otherSide: nil))
    }
    return kinds.map { ($0, Place(kind: $0.code, entity: decision.entity, properties: properties)) }
  }

  private static func objection(
    to decision: DataDecision, effects: [DataEffect], model: ManagedObjectModel
  ) -> String {
    let questions = questions(at: decision, effects: effects, model: model)
    let options = DataDecision.Option.allCases.filter { option in
      questions.contains { $0.kind.options.contains(option) }
    }
    if !options.isEmpty, options.contains(decision.choice.option) { return "other decisions answer all of it" }
    if !options.isEmpty { return "the choices there are \(options.map(\.rawValue).joined(separator: ", "))" }
    guard let entity = model.entity(named: decision.entity) else {
      return "the destination has no entity \"\(decision.entity)\""
    }
    let names = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
    let unknown = decision.properties.first {
      !names.contains($0.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? $0)
    }
    if let unknown { return "the entity \"\(entity.name)\" declares no property \"\(unknown)\"" }
    return "nothing there can stand in the way of the migration"
  }

  /// Refuses a value that the attribute can't hold, and an attribute that tells no age.
  private static func check(_ decision: DataDecision, destination: PhysicalSchema) throws(MigrationError) {
    if case .fill(let value) = decision.choice {
      let path =
        decision.properties.first?.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init) ?? []
      let column = destination.column(atPath: path, in: decision.entity)
      guard let column, (try? ValueCoding.encode(value, for: column.attribute)) != nil else {
        throw .unfitDecision(decision, reason: "the attribute can't hold that value")
      }
    }
    guard let age = decision.choice.age else { return }
    let column = destination.column(
      atPath: age.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init), in: decision.entity)
    guard let column, column.attribute.type == .date || column.attribute.type.isNumeric else {
      throw .unfitDecision(
        decision,
        reason: "\"\(decision.entity).\(age)\" is no stored date or number, and can't tell which object is newest")
    }
  }
}

extension RelationshipDescription {
  /// True when every object must lead to another one.
  var isRequiredKey: Bool { !isOptional && !isToMany && !isTransient }
}
