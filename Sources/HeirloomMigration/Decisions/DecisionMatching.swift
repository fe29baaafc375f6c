import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// The blockers that decisions answer.
///
/// A decision stays in an app for many releases, so one about which a migration has no question is passed over.
struct DecisionMatching {
  /// The decisions, in the order in which they were given.
  let decisions: [DataDecision]
  private let answers: [Place: Int]

  /// A place where something may have to be decided.
  private struct Place: Hashable {
    let kind: String
    let entity: String
    let properties: Set<String>
  }

  /// Matches decisions with the possible blockers of one migration.
  ///
  /// - Parameters:
  ///   - decisions: The decisions, checked by `check(_:in:)`.
  ///   - effects: The possible losses, blockers and warnings, as the models tell.
  ///   - destination: The destination.
  init(_ decisions: [DataDecision], effects: [DataEffect], destination: ManagedObjectModel) {
    self.decisions = decisions
    answers =
      Self.match(decisions) { decision in
        // A value or an age of another version's says nothing here.
        guard Self.mistake(of: decision, in: destination) == nil else { return [] }
        let properties = Set(decision.properties)
        let kinds = effects.filter {
          $0.kind.severity == .blocker && $0.entity == decision.entity && Set($0.properties) == properties
        }.map(\.kind)
        // Decisions may cause further blockers, though the models alone don't say so.
        return kinds + destination.constraintsAndKeys(at: decision)
      }.answers
  }

  /// Returns the number of the decision about a blocker; `nil` if there is none.
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
        // A decision that fits everything leaves blockers to others that are meant for them.
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
  /// Checks that each decision is one about something that a migration between versions may ask.
  ///
  /// - Parameters:
  ///   - decisions: The decisions.
  ///   - versions: All versions that are known.
  ///   - expressions: Decided expressions besides, about whose other rows a decision may be.
  /// - Throws: ``MigrationError/unfitDecision(_:reason:)`` for one that names nothing in any version, that can answer
  ///   nothing there, or that only answers what another one answers.
  static func check(
    _ decisions: [DataDecision], in versions: [ManagedObjectModel], beside expressions: [DataDecision] = []
  ) throws(MigrationError) {
    guard !decisions.isEmpty else { return }
    let matched = match(decisions) { decision in
      questions(at: decision, versions)
        + ((decisions + expressions).contains { $0.isComputed && $0.isAtPlace(of: decision) } ? [.uncomputed] : [])
    }
    if let (first, second) = matched.conflict {
      throw .unfitDecision(decisions[second], reason: "\(decisions[first]) answers the same")
    }
    let used = Set(matched.answers.values)
    for (index, decision) in decisions.enumerated() {
      if decision.isComputed {
        if let first = decisions[..<index].first(where: { $0.isComputed && $0.isAtPlace(of: decision) }) {
          throw .unfitDecision(decision, reason: "\(first) answers the same")
        }
        guard !versions.contains(where: { $0.canCompute(decision) }) else { continue }
        throw .unfitDecision(
          decision,
          reason: absence(of: decision, from: versions) ?? "the property is no stored attribute with values of its own")
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
    if options.contains(decision.choice.option) { return "other decisions answer all of it" }
    if !options.isEmpty { return "the choices there are \(options.map(\.rawValue).joined(separator: ", "))" }
    return absence(of: decision, from: versions) ?? "nothing there can stand in the way of a migration"
  }

  /// Returns the reason why no version has what a decision names; `nil` if one has.
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

  /// Returns the reason why an attribute can't hold a decided value, or tells no age; `nil` if there is none.
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
      return "\"\(decision.entity).\(age)\" is no stored date or number, and can't tell which object is newest"
    }
    return nil
  }
}

extension DataDecision {
  /// Returns true if rows of another version's store may need the decision to become ones of a model.
  package func isFit(for model: ManagedObjectModel) -> Bool { objection(in: model) == nil }

  /// Returns the reason why the decision says nothing about rows of a model; `nil` if it does.
  package func mistake(in model: ManagedObjectModel) -> String? { DecisionMatching.mistake(of: self, in: model) }

  /// Returns the reason why no row of another version's store needs the decision, or why it can't be carried out.
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
  /// Returns the reason why no new object of an entity can be linked; `nil` if one can.
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

  /// Returns true if an entity declares the attribute, or the leaf, that a decision's expression gives values to.
  fileprivate func canCompute(_ decision: DataDecision) -> Bool {
    guard decision.properties.count == 1, let target = attributeTarget(decision.properties[0], of: decision.entity),
      let attribute = entity(named: decision.entity)?.attributes.first(where: { $0.name == target.path.first })
    else { return false }
    return !attribute.isTransient && attribute.derivation == nil && target.description.composite == nil
  }

  /// Returns the kinds of blockers that stores of other versions may have at a decision's place when they become ones of
  /// this version.
  fileprivate func questions(at decision: DataDecision, from others: [ManagedObjectModel]) -> [DataEffect.Kind] {
    guard let entity = entity(named: decision.entity) else { return [] }
    var kinds = constraintsAndKeys(at: decision)
    guard let name = decision.properties.first else { return entity.isAbstract ? [.uninstantiable] : [] }
    guard decision.properties.count == 1, let target = attributeTarget(name, of: entity.name),
      entity.attributes.contains(where: { $0.name == target.path.first && !$0.isTransient }),
      target.description.composite == nil
    else { return kinds }
    // Where it is missing, it may have had another name.
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

  /// Returns an attribute as the entities that inherit it have it in other versions, which may have had another parent
  /// there; `nil` for each that lacks it.
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

  /// Returns the kinds that a constraint or a required relationship may cause at a decision's place.
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
  /// True if a new object lacks a value that it must have.
  fileprivate var isMissingInNewObjects: Bool {
    if isOptional || isTransient || derivation != nil { return false }
    return composite?.elements.contains(where: \.isMissingInNewObjects) ?? (defaultValue == nil)
  }
}

extension RelationshipDescription {
  /// True when every object must lead to another one.
  var isRequiredKey: Bool { !isOptional && !isToMany && !isTransient }
}
