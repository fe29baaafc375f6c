package import HeirloomModel

// Decisions are read where rows need one, so that one that this release doesn't know stops no launch.
extension VersionLock {
  /// A decision about the rows that don't fit a version.
  package struct Decision: Hashable, Sendable {
    /// The step that brings the rows there, with the versions' identifiers or names.
    package let step: Step
    /// The entity in the step's destination.
    package let entity: String
    /// The property, or the properties of a uniqueness constraint; none for the entity itself.
    package let properties: [String]
    /// The choice, as `--decide` takes it: `fill`, `new`, `newest`, `merge` or `quarantine`; `compute` for an expression.
    package let choice: String
    /// The value that `fill` writes, the text of the expression, or the entity of `new`.
    package let value: AttributeValue?
    /// The attribute that tells which object is the newest.
    package let age: String?

    /// The choice whose value is the text of an expression; what that leaves may be decided too.
    package static let computed: String = "compute"

    /// Creates a decision.
    package init(
      step: Step, entity: String, properties: [String], choice: String, value: AttributeValue? = nil,
      age: String? = nil
    ) {
      self.step = step
      self.entity = entity
      self.properties = properties
      self.choice = choice
      self.value = value
      self.age = age
    }

    /// Returns the decision for another step, or for the same one by its versions' identifiers.
    package func at(_ step: Step) -> Decision {
      Decision(step: step, entity: entity, properties: properties, choice: choice, value: value, age: age)
    }

    /// Returns true for a decision that answers the same question.
    func answersSame(as other: Decision) -> Bool {
      decidesSameRows(as: other) && (choice == Self.computed) == (other.choice == Self.computed)
    }

    /// Returns true for a decision about the same properties in the same step.
    func decidesSameRows(as other: Decision) -> Bool {
      step == other.step && entity == other.entity && Set(properties) == Set(other.properties)
    }
  }

  /// The decisions that this release knows, with the versions' names.
  package var namedDecisions: [Decision] {
    knownDecisions.map { $0.at(Step(source: name(of: $0.step.source), destination: name(of: $0.step.destination))) }
  }

  private var knownDecisions: [Decision] { writtenDecisions.compactMap(Self.decision) }

  /// Returns true if this lock and another decide the same rows in two ways that a common base doesn't have.
  ///
  /// A value beside an expression is no second answer in one lock, but what two branches wrote independently is.
  func decides(otherwiseThan other: VersionLock, since base: VersionLock) -> Bool {
    let (own, others) = (knownDecisions, other.knownDecisions)
    let old = base.knownDecisions
    return own.contains { decision in
      !old.contains(decision) && !others.contains(decision)
        && others.contains { !old.contains($0) && !own.contains($0) && $0.decidesSameRows(as: decision) }
    }
  }

  /// Notes a decision in place of one that answers the same.
  ///
  /// - Parameter decision: The decision, with the identifiers of the versions.
  package mutating func decide(_ decision: Decision) {
    writtenDecisions.removeAll { Self.decision($0)?.answersSame(as: decision) == true }
    var members: [String: JSONValue] = [
      "from": .string(decision.step.source), "to": .string(decision.step.destination),
      "entity": .string(decision.entity), "properties": .array(decision.properties.map { .string($0) }),
      "choice": .string(decision.choice),
    ]
    if let value = decision.value {
      var writer = ModelContentWriter(isIndented: false)
      writer.value(value)
      members["value"] = try? JSONReader.value(of: writer.json.bytes)
    }
    if let age = decision.age { members["by"] = .string(age) }
    writtenDecisions.append(.object(members))
  }

  /// Reads a decision; returns `nil` for one with anything that this release doesn't know.
  private static func decision(_ value: JSONValue) -> Decision? {
    guard case .object(let members) = value,
      Set(members.keys).isSubset(of: ["by", "choice", "entity", "from", "properties", "to", "value"]),
      let step = step(members), case .string(let entity)? = members["entity"],
      case .string(let choice)? = members["choice"], case .array(let list)? = members["properties"]
    else { return nil }
    let properties = list.compactMap { if case .string(let name) = $0 { name } else { nil } }
    let value = members["value"].map { try? ModelExpressionReader.value($0, "value") }
    let age = members["by"].map { if case .string(let name) = $0 { name } else { nil as String? } }
    guard properties.count == list.count, value != .some(nil), age != .some(nil) else { return nil }
    return Decision(
      step: step, entity: entity, properties: properties, choice: choice, value: value ?? nil, age: age ?? nil)
  }
}
