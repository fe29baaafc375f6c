import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// An app keeps decisions for many releases, so one that answers no blocker is ignored.
struct DecisionMatching {
  let decisions: [DataDecision]
  private let answers: [Place: Int]

  private struct Place: Hashable {
    let kind: String
    let entity: String
    let properties: Set<String>
  }

  /// The decisions were checked by `check(_:in:)`.
  init(_ decisions: [DataDecision], effects: [DataEffect], destination: ManagedObjectModel) {
    self.decisions = decisions
    answers =
      Self.match(decisions) { decision in
        // A decision with a value or an age attribute of another version doesn't apply here.
        guard Self.mistake(of: decision, in: destination) == nil else { return [] }
        let properties = Set(decision.properties)
        let kinds = effects.filter {
          $0.kind.severity == .blocker && $0.entity == decision.entity && Set($0.properties) == properties
        }.map(\.kind)
        // Decisions may cause further blockers that the models alone don't predict.
        return kinds + destination.constraintsAndKeys(at: decision)
      }.answers
  }

  func decision(about kind: DataEffect.Kind, of entity: String, _ properties: [String]) -> Int? {
    answers[Place(kind: kind.code, entity: entity, properties: Set(properties))]
  }

  private static func match(
    _ decisions: [DataDecision], kinds: (DataDecision) -> [DataEffect.Kind]
  ) -> (answers: [Place: Int], conflict: (Int, Int)?) {
    var answers: [Place: Int] = [:]
    var conflict: (Int, Int)?
    for decision in decisions where !decision.isComputed {
      for kind in kinds(decision) {
        let place = Place(kind: kind.code, entity: decision.entity, properties: Set(decision.properties))
        guard answers[place] == nil else { continue }
        let all = decisions.indices.filter { other in
          !decisions[other].isComputed && decisions[other].entity == decision.entity
            && Set(decisions[other].properties) == place.properties
            && kind.options.contains(decisions[other].choice.option)
        }
        // A decision to quarantine answers only blockers that have no more specific decision.
        let meant = all.filter { decisions[$0].choice != .quarantine }
        guard let answer = meant.first ?? all.first else { continue }
        answers[place] = answer
        if meant.count > 1 || meant.isEmpty && all.count > 1 { conflict = conflict ?? (all[0], all[1]) }
      }
    }
    return (answers, conflict)
  }
}

// MARK: - Mistakes

extension DecisionMatching {
  /// `expressions` are further decided expressions, whose remaining rows a decision may be about.
  ///
  /// Throws ``MigrationError/unfitDecision(_:reason:)`` for a decision that names nothing in any
  /// version, that can answer nothing there, or whose every question another decision answers.
  static func check(
    _ decisions: [DataDecision], in versions: [ManagedObjectModel], beside expressions: [DataDecision] = []
  ) throws(MigrationError) {
    guard !decisions.isEmpty else { return }
    let matched = match(decisions) { decision in
      questions(at: decision, versions)
        + ((decisions + expressions).contains { $0.isComputed && $0.isAtPlace(of: decision) } ? [.uncomputed] : [])
    }
    if let (first, second) = matched.conflict {
      throw .unfitDecision(decisions[second], reason: "\(decisions[first]) already answers the same blocker")
    }
    let used = Set(matched.answers.values)
    for (index, decision) in decisions.enumerated() {
      if decision.isComputed {
        if let first = decisions[..<index].first(where: { $0.isComputed && $0.isAtPlace(of: decision) }) {
          throw .unfitDecision(decision, reason: "\(first) already computes the same property")
        }
        guard !versions.contains(where: { $0.canCompute(decision) }) else { continue }
        throw .unfitDecision(
          decision,
          reason: absence(of: decision, from: versions)
            ?? "the property is not a stored attribute with values of its own")
      }
      guard used.contains(index) else {
        throw .unfitDecision(decision, reason: objection(to: decision, versions: versions))
      }
      let named = versions.filter { !$0.questions(at: decision, from: versions).isEmpty }
      let mistakes = named.map { mistake(of: decision, in: $0) }
      if let mistake = mistakes.last ?? nil, !mistakes.contains(nil) {
        throw .unfitDecision(decision, reason: mistake)
      }
    }
  }

  private static func questions(at decision: DataDecision, _ versions: [ManagedObjectModel]) -> [DataEffect.Kind] {
    versions.flatMap { $0.questions(at: decision, from: versions) }
  }

  private static func objection(to decision: DataDecision, versions: [ManagedObjectModel]) -> String {
    let questions = questions(at: decision, versions)
    let options = DataDecision.Option.allCases.filter { option in questions.contains { $0.options.contains(option) } }
    if options.contains(decision.choice.option) { return "other decisions already answer all its blockers" }
    if !options.isEmpty { return "the possible choices are \(options.map(\.rawValue).joined(separator: ", "))" }
    return absence(of: decision, from: versions) ?? "it can't cause a blocker in any migration"
  }

  private static func absence(of decision: DataDecision, from versions: [ManagedObjectModel]) -> String? {
    let entities = versions.compactMap { $0.entity(named: decision.entity) }
    guard !entities.isEmpty else { return "no version has an entity \"\(decision.entity)\"" }
    let names = Set(entities.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
    let unknown = decision.properties.first {
      !names.contains($0.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? $0)
    }
    if let unknown { return "no version's entity \"\(decision.entity)\" declares a property \"\(unknown)\"" }
    return nil
  }

  fileprivate static func mistake(of decision: DataDecision, in version: ManagedObjectModel) -> String? {
    if case .fill(let value) = decision.choice {
      let target = decision.properties.first.flatMap { version.attributeTarget($0, of: decision.entity) }
      guard let target, (try? ValueCoding.encode(value, for: target.description)) != nil else {
        return "the attribute can't hold that value"
      }
    }
    if case .link(let entity) = decision.choice {
      return version.mistake(inNew: entity, for: decision.properties.first ?? "", of: decision.entity)
    }
    guard let age = decision.choice.age else { return nil }
    let attribute = version.attributeTarget(age, of: decision.entity)?.description
    guard let attribute, !attribute.isTransient, attribute.type == .date || attribute.type.isNumeric else {
      return "\"\(decision.entity).\(age)\" is not a stored date or number, so it can't determine the newest object"
    }
    return nil
  }
}

extension DataDecision {
  package func isFit(for model: ManagedObjectModel) -> Bool { objection(in: model) == nil }

  /// The reason why the decision doesn't apply to rows of the model.
  package func mistake(in model: ManagedObjectModel) -> String? { DecisionMatching.mistake(of: self, in: model) }

  /// The reason why no migration to the model needs the decision, or why it can't be carried out.
  package func objection(in model: ManagedObjectModel) -> String? {
    do throws(MigrationError) {
      try DecisionMatching.check([self], in: [model])
      return nil
    } catch {
      guard case .unfitDecision(_, let reason) = error else { return "\(error)" }
      return reason
    }
  }
}

extension ManagedObjectModel {
  fileprivate func mistake(inNew name: String, for relationship: String, of owner: String) -> String? {
    guard let link = self.relationship(named: relationship, of: owner), let entity = entity(named: name),
      isEntity(name, kindOf: link.destinationEntity)
    else { return "\"\(owner).\(relationship)\" has no destination entity \"\(name)\"" }
    guard !entity.isAbstract else { return "\"\(name)\" is abstract" }
    let inverse = inverse(of: link)?.relationship
    let attribute = attributes(of: name).first(where: \.isMissingInNewObjects)
    let other = relationships(of: name).first {
      ($0.isRequiredKey || $0.isToMany && $0.minCount > 0 && !$0.isOptional) && $0 != inverse
    }
    if let missing = attribute?.name ?? other?.name {
      return "a new object of \"\(name)\" lacks the required \"\(missing)\"; give it a default, or make it optional"
    }
    let isUnique = ([entity] + superentities(of: name)).flatMap(\.uniquenessConstraints).contains { constraint in
      constraint.allSatisfy { property in self.attribute(named: property, of: name)?.defaultValue != nil }
    }
    return isUnique ? "all new objects of \"\(name)\" would be equal in a constraint" : nil
  }

  fileprivate func canCompute(_ decision: DataDecision) -> Bool {
    guard decision.properties.count == 1, let target = attributeTarget(decision.properties[0], of: decision.entity),
      let attribute = entity(named: decision.entity)?.attributes.first(where: { $0.name == target.path.first })
    else { return false }
    return !attribute.isTransient && attribute.derivation == nil && target.description.composite == nil
  }

  /// The blockers that a migration from the other versions may have at the decision's place.
  fileprivate func questions(at decision: DataDecision, from others: [ManagedObjectModel]) -> [DataEffect.Kind] {
    guard let entity = entity(named: decision.entity) else { return [] }
    var kinds = constraintsAndKeys(at: decision)
    guard let name = decision.properties.first else { return entity.isAbstract ? [.uninstantiable] : [] }
    guard decision.properties.count == 1, let target = attributeTarget(name, of: entity.name),
      entity.attributes.contains(where: { $0.name == target.path.first && !$0.isTransient }),
      target.description.composite == nil
    else { return kinds }
    // An attribute that is missing in a version may have another name there.
    let before = others.map { $0.attributeTarget(name, of: entity.name) }
    // A required leaf may be missing only together with an optional composite around it.
    if !target.description.isOptional,
      (before + inheritors(of: name, declaredBy: entity.name, in: others)).contains(where: { $0?.isOptional ?? true })
    {
      kinds.append(.missingValue)
    }
    let type = target.description.type
    if AttributeConversion(from: .decimal, to: type).mayOverflow,
      before.contains(where: { $0?.description.type != type })
    {
      kinds.append(.overflow(from: .decimal, to: type))
    }
    return kinds
  }

  /// Entities that inherit it here may have another parent there; `nil` for each that lacks it.
  private func inheritors(
    of attribute: String, declaredBy entity: String, in others: [ManagedObjectModel]
  ) -> [AttributeTarget?] {
    entityTree(from: entity).dropFirst().flatMap { heir in
      others.flatMap { other in
        other.entities.filter { $0.name == heir.name || $0.canonicalIdentifier == heir.canonicalIdentifier }
          .map { other.attributeTarget(attribute, of: $0.name) }
      }
    }
  }

  fileprivate func constraintsAndKeys(at decision: DataDecision) -> [DataEffect.Kind] {
    guard let entity = entity(named: decision.entity) else { return [] }
    var kinds: [DataEffect.Kind] = []
    let properties = Set(decision.properties)
    if entity.uniquenessConstraints.contains(where: { Set($0) == properties }) { kinds.append(.duplicate) }
    if let name = decision.properties.first, properties.count == 1,
      let relationship = entity.relationships.first(where: { $0.name == name }), relationship.isRequiredKey
    {
      kinds.append(.missingLink(otherSide: nil))
    }
    return kinds
  }
}

extension AttributeDescription {
  fileprivate var isMissingInNewObjects: Bool {
    if isOptional || isTransient || derivation != nil { return false }
    return composite?.elements.contains(where: \.isMissingInNewObjects) ?? (defaultValue == nil)
  }
}

extension RelationshipDescription {
  var isRequiredKey: Bool { !isOptional && !isToMany && !isTransient }
}
