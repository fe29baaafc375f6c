package import HeirloomModel

// Decisions are parsed when rows need one, so that an unknown decision doesn't prevent a launch.
extension VersionLock {
  /// A decision about rows that don't fit a version.
  package struct Decision: Hashable, Sendable {
    /// With the versions' identifiers or names.
    package let step: Step
    /// In the hop's destination.
    package let entity: String
    /// The property, or the properties of a uniqueness constraint; empty for the entity itself.
    package let properties: [String]
    /// The choice, as in `--decide`: `fill`, `new`, `newest`, `merge` or `quarantine`; `compute` for an expression.
    package let choice: String
    /// The value for `fill`, the text of the expression, or the entity of `new`.
    package let value: AttributeValue?
    /// The attribute that determines the newest object.
    package let age: String?

    /// The choice of an expression; rows without a value of it may need a further decision.
    package static let computed: String = "compute"

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

    package func at(_ step: Step) -> Decision {
      Decision(step: step, entity: entity, properties: properties, choice: choice, value: value, age: age)
    }

    func answersSame(as other: Decision) -> Bool {
      decidesSameRows(as: other) && (choice == Self.computed) == (other.choice == Self.computed)
    }

    func decidesSameRows(as other: Decision) -> Bool {
      step == other.step && entity == other.entity && Set(properties) == Set(other.properties)
    }
  }

  /// Only those that this release supports.
  package var namedDecisions: [Decision] {
    knownDecisions.map { $0.at(Step(source: name(of: $0.step.source), destination: name(of: $0.step.destination))) }
  }

  private var knownDecisions: [Decision] { writtenDecisions.compactMap(Self.decision) }

  /// True if both locks decide the same rows differently, and the base does not.
  ///
  /// In one lock, a value may complement an expression; in two branches, they conflict.
  package func decides(otherwiseThan other: VersionLock, since base: VersionLock) -> Bool {
    let (own, others) = (knownDecisions, other.knownDecisions)
    let old = base.knownDecisions
    return own.contains { decision in
      !old.contains(decision) && !others.contains(decision)
        && others.contains { !old.contains($0) && !own.contains($0) && $0.decidesSameRows(as: decision) }
    }
  }

  /// The decision must have identifiers of versions; it replaces one about the same question.
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

  /// `nil` if the decision contains anything that this release doesn't support.
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
