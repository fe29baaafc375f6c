import Foundation
import HeirloomFormats
import HeirloomMapping
public import HeirloomModel
import HeirloomStore

/// An answer to a blocker: the treatment of rows that don't fit the destination.
///
/// A decision about rows that the store doesn't have is valid and has no effect.
public struct DataDecision: Hashable, Sendable {
  /// The entity in the destination, as the blocker names it.
  public let entity: String
  /// The property, or the properties of a uniqueness constraint in any order; none for the entity itself.
  ///
  /// An element of a composite attribute is `composite.element`.
  public let properties: [String]
  /// The treatment of the rows.
  public let choice: Choice
  /// The decision as a person wrote it; `nil` for one made in code.
  package var text: String?

  /// A treatment of rows.
  @nonexhaustive
  public enum Choice: Hashable, Sendable {
    /// A value for rows without one, or with a number that is out of range.
    case fill(AttributeValue)
    /// A value that an expression computes for each row without one, or for each row if the attribute is new.
    ///
    /// Names in the expression refer to properties of the source object: `uppercase:(name)`, `CAST(price, "NSNumber")`,
    /// `uuid()`, `now()`; see ``PropertyMapping/init(_:expression:)``. Rows for which it fails, or computes a value
    /// that the attribute can't hold, are a blocker, which another decision about the same attribute may answer. An
    /// optional attribute stays NULL where everything that the expression reads is NULL, and in objects whose entity
    /// lacks the properties that it reads. Objects that a policy makes without the default get no value. An expression
    /// that is a property, or a `CAST` of one, keeps the property's values. `CAST` turns a text into the number that it
    /// contains, so `007` becomes 7; if the attribute holds fewer digits than the number has, that is a loss. Values
    /// that any other expression reads are lost with their property. A text that isn't an expression, or names a
    /// property that the source doesn't have, is ``MigrationError/unfitDecision(_:reason:)``.
    case compute(String)
    /// A new object of an entity, with its default values, for each row without a required link.
    ///
    /// The entity is the relationship's destination, or one that descends from it. One that is abstract, or whose new
    /// objects lack a required value, is ``MigrationError/unfitDecision(_:reason:)``.
    case link(newObjectOf: String)
    /// Keeping the newest of objects that are equal in a constraint: the others are dropped, and links to them removed.
    ///
    /// The newest has the highest value of the named attribute, such as a date; without one, the highest primary key.
    case keepNewest(by: String? = nil)
    /// Merging objects that are equal in a constraint into the newest.
    ///
    /// Links to the other objects are redirected to it, and its to-many relationships gain their members. Values that
    /// it lacks come from the newest object that has one. Where both have a value, its own is kept.
    case merge(by: String? = nil)
    /// Moving the rows out of the migrated store to a file, each with the reason; links to them are removed.
    ///
    /// Of objects that are equal in a constraint, the one with the highest primary key stays in the store.
    case quarantine
  }

  /// A kind of choice that a blocker offers.
  public enum Option: String, Hashable, Sendable, CaseIterable {
    /// A choice to fill in a value.
    case fill
    /// A choice to link a new object.
    case new
    /// A choice to keep the newest object.
    case newest
    /// A choice to merge objects into the newest.
    case merge
    /// A choice to move rows to a file.
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
    case .fill, .compute: .fill
    case .link: .new
    case .keepNewest: .newest
    case .merge: .merge
    case .quarantine: .quarantine
    }
  }

  /// The attribute whose highest value marks the newest object; `nil` for the primary key.
  package var age: String? {
    switch self {
    case .keepNewest(let attribute), .merge(let attribute): attribute
    case .fill, .compute, .link, .quarantine: nil
    }
  }
}

extension DataDecision: CustomStringConvertible {
  /// The decision as text: the text it was read from, or the same in the syntax of the tool's option.
  public var description: String {
    if let text { return text }
    let place = ([entity] + (properties.isEmpty ? [] : [properties.joined(separator: ",")])).joined(separator: ".")
    let words =
      switch choice {
      case .fill(let value): "fill:\(value.argument)"
      case .compute(let expression): "fill:=\(expression)"
      case .link(let entity): "\(choice.option.rawValue):\(entity)"
      case .keepNewest(let attribute), .merge(let attribute):
        choice.option.rawValue + (attribute.map { ":\($0)" } ?? "")
      case .quarantine: choice.option.rawValue
      }
    return "\(place)=\(words)"
  }
}

extension AttributeValue {
  /// Seconds since 2001 of dates whose year has four digits.
  private var years1To9999: ClosedRange<Double> { -63_113_904_000...252_423_993_599 }

  /// The value in the syntax of the tool's option.
  fileprivate var argument: String {
    switch self {
    case .string(let text):
      // A string that would be read as an expression is written as one.
      let isExpression = text.hasPrefix("=") || ["uuid()", "now()"].contains(text)
      return isExpression ? "=\(ValueExpression.constant(.value(self)).predicateFormat)" : text
    case .boolean(let value): return value ? "yes" : "no"
    case .date(let seconds) where years1To9999.contains(seconds):
      let start = Date.timeIntervalBetween1970AndReferenceDate + seconds.rounded(.down)
      let text = CivilCalendar.text(of: Int64(start))
      let thousandths = ((seconds - seconds.rounded(.down)) * 1000).rounded(.down)
      if thousandths > 0 { return "\(text.dropLast())\("\(thousandths / 1000)".dropFirst())Z" }
      return text.hasSuffix("T00:00:00Z") ? String(text.prefix(10)) : text
    case .binary(let bytes): return bytes.hexadecimal
    case .uuid(let bytes): return UUID(attributeValue: .uuid(bytes))?.uuidString ?? bytes.hexadecimal
    default: return "\(self)"
    }
  }
}

/// The outcome of a decision.
public struct DecisionOutcome: Hashable, Sendable {
  /// The decision.
  public let decision: DataDecision
  /// The number of rows that get a value, or a new object.
  public internal(set) var filled: Int64 = 0
  /// The number of objects that are dropped because a newer one stays.
  public internal(set) var dropped: Int64 = 0
  /// The number of objects that are merged into others.
  public internal(set) var merged: Int64 = 0
  /// The number of objects that are moved to the quarantine file.
  public internal(set) var quarantined: Int64 = 0

  init(_ decision: DataDecision) {
    self.decision = decision
  }

  /// The number of objects of the store that the migrated store doesn't have.
  public var removed: Int64 { dropped + merged + quarantined }

  mutating func add(_ later: DecisionOutcome) {
    filled += later.filled
    dropped += later.dropped
    merged += later.merged
    quarantined += later.quarantined
  }

  mutating func remove(_ count: Int64) {
    switch decision.choice {
    case .fill, .compute, .link: break
    case .keepNewest: dropped += count
    case .merge: merged += count
    case .quarantine: quarantined += count
    }
  }
}

extension DataDecision {
  package func isAtPlace(of other: DataDecision) -> Bool { isAt(other.entity, other.properties) }

  /// Rows that an expression leaves may have their own decision.
  func answersSame(as other: DataDecision) -> Bool { isAtPlace(of: other) && isComputed == other.isComputed }

  fileprivate func isAt(_ entity: String, _ properties: [String]) -> Bool {
    self.entity == entity && Set(self.properties) == Set(properties)
  }
}

extension DataEffect {
  func isComputed(by decision: DataDecision) -> Bool { decision.isComputed && decision.isAt(entity, properties) }

  package func isAnswered(by decision: DataDecision) -> Bool {
    kind.options.contains(decision.choice.option) && decision.isAt(entity, properties)
  }
}

extension MigrationBlocker {
  func isAnswered(by decision: DataDecision) -> Bool {
    choices.contains(decision.choice.option) && decision.isAt(entity, properties)
  }
}

extension DataEffect.Kind {
  var options: [DataDecision.Option] {
    switch self {
    case .missingValue, .uncomputed, .overflow: [.fill, .quarantine]
    case .duplicate: [.newest, .merge, .quarantine]
    case .missingLink: [.new, .quarantine]
    case .uninstantiable: [.quarantine]
    default: []
    }
  }
}

extension DataDecision.Choice {
  var removesRows: Bool {
    switch self {
    case .fill, .compute, .link: false
    case .keepNewest, .merge, .quarantine: true
    }
  }
}

extension DataDecision {
  package var isComputed: Bool { if case .compute = choice { true } else { false } }
}
