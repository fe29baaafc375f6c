import HeirloomMapping
public import HeirloomModel

/// What is to be done with rows that don't fit the destination: an answer to a ``MigrationBlocker``.
///
/// A decision about something that no row needs is carried out all the same: there is nothing to do.
public struct DataDecision: Hashable, Sendable {
  /// The entity in the destination, as the blocker names it.
  public let entity: String
  /// The property, or the properties of a uniqueness constraint in any order; none for the entity itself.
  ///
  /// An element of a composite attribute is `composite.element`.
  public let properties: [String]
  /// What is done.
  public let choice: Choice

  /// What is done with rows.
  @nonexhaustive
  public enum Choice: Hashable, Sendable {
    /// Rows without a value, or with a number that is too large, get this value.
    case fill(AttributeValue)
    /// Of objects that are equal in a constraint, the newest stays and the others are dropped; links to them are emptied.
    ///
    /// The newest has the highest value of the attribute that is named, such as a date, else the highest primary key.
    case keepNewest(by: String? = nil)
    /// Of objects that are equal in a constraint, the newest stays and takes the place of the others.
    ///
    /// Links to the others lead to it, its to-many relationships hold their members too, and what it has no value for it gets
    /// from the newest that has one. Where both have a value its own counts.
    case merge(by: String? = nil)
    /// The rows go to a file, each with the reason, and not into the migrated store; links to them are emptied.
    ///
    /// Of objects that are equal in a constraint, the one with the highest primary key stays.
    case quarantine
  }

  /// A kind of choice: what a blocker offers.
  public enum Option: String, Hashable, Sendable, CaseIterable {
    /// ``DataDecision/Choice/fill(_:)``.
    case fill
    /// ``DataDecision/Choice/keepNewest(by:)``.
    case newest
    /// ``DataDecision/Choice/merge(by:)``.
    case merge
    /// ``DataDecision/Choice/quarantine``.
    case quarantine
  }

  /// Creates a decision about a property, or about the entity itself.
  public init(entity: String, property: String?, _ choice: Choice) {
    self.init(entity: entity, constraint: property.map { [$0] } ?? [], choice)
  }

  /// Creates a decision about a uniqueness constraint.
  public init(entity: String, constraint properties: [String], _ choice: Choice) {
    self.entity = entity
    self.properties = properties
    self.choice = choice
  }
}

extension DataDecision.Choice {
  /// The kind of the choice.
  public var option: DataDecision.Option {
    switch self {
    case .fill: .fill
    case .keepNewest: .newest
    case .merge: .merge
    case .quarantine: .quarantine
    }
  }

  /// The attribute that tells which object is the newest; `nil` for the primary key.
  var age: String? {
    switch self {
    case .keepNewest(let attribute), .merge(let attribute): attribute
    case .fill, .quarantine: nil
    }
  }
}

extension DataDecision: CustomStringConvertible {
  /// The decision as the tool's option takes it.
  public var description: String {
    let place = ([entity] + (properties.isEmpty ? [] : [properties.joined(separator: ",")])).joined(separator: ".")
    let words =
      switch choice {
      case .fill(let value): "fill:\(value)"
      case .keepNewest(let attribute), .merge(let attribute):
        choice.option.rawValue + (attribute.map { ":\($0)" } ?? "")
      case .quarantine: choice.option.rawValue
      }
    return "\(place)=\(words)"
  }
}

/// What a decision came to.
public struct DecisionOutcome: Hashable, Sendable {
  /// The decision.
  public let decision: DataDecision
  /// Rows that get a value.
  public internal(set) var filled: Int64 = 0
  /// Objects that are dropped, since a newer one stays.
  public internal(set) var dropped: Int64 = 0
  /// Objects that others take the place of.
  public internal(set) var merged: Int64 = 0
  /// Objects that go to the file.
  public internal(set) var quarantined: Int64 = 0

  init(_ decision: DataDecision) {
    self.decision = decision
  }

  /// Objects of the store that the migrated store doesn't have.
  public var removed: Int64 { dropped + merged + quarantined }

  /// Takes objects that the decision removes.
  mutating func remove(_ count: Int64) {
    switch decision.choice {
    case .fill: break
    case .keepNewest: dropped += count
    case .merge: merged += count
    case .quarantine: quarantined += count
    }
  }
}

extension DataHazard.Kind {
  /// What may be decided about rows that don't fit; nothing for what is no blocker.
  var options: [DataDecision.Option] {
    switch self {
    case .missingValue, .overflow: [.fill, .quarantine]
    case .duplicate: [.newest, .merge, .quarantine]
    case .missingLink, .uninstantiable: [.quarantine]
    default: []
    }
  }
}
