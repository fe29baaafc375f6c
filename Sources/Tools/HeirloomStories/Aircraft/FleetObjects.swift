import Heirloom

enum FleetObjects {
  /// The relationship from an aircraft to its flight data.
  static let record = "recordedFlight"

  /// `nil` if no element has a value.
  static func colorScheme(of object: ManagedObject) throws -> Fleet.ColorScheme? {
    guard let elements = try object.composite("colorScheme") else { return nil }
    func text(_ name: String) -> String? {
      if case .string(let text)? = elements[name] { text } else { nil }
    }
    return Fleet.ColorScheme(primary: text("primary"), secondary: text("secondary"), tertiary: text("tertiary"))
  }

  /// Sets several colours as a dictionary, a single one by its key path.
  static func paint(_ object: ManagedObject, _ scheme: Fleet.ColorScheme?) throws {
    guard let scheme, scheme.secondary != nil || scheme.tertiary != nil else {
      try object.setValue(nil, forAttribute: "colorScheme")
      return try object.set(scheme?.primary, for: "colorScheme.primary")
    }
    var elements: [String: AttributeValue] = [:]
    elements["primary"] = scheme.primary.map { .string($0) }
    elements["secondary"] = scheme.secondary.map { .string($0) }
    elements["tertiary"] = scheme.tertiary.map { .string($0) }
    try object.set(elements, for: "colorScheme")
  }
}

package enum FleetError: Error, Hashable, Sendable {
  case otherAircraft(found: Int, expected: Int)
  case otherModels(found: Int, expected: Int)
  case notCopied(tailNumber: String?)
}

extension FleetError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherAircraft(let found, let expected): "The store holds \(found) aircraft; \(expected) were expected."
    case .otherModels(let found, let expected): "There are \(found) models; the \(expected) of the story were expected."
    case .notCopied(let tailNumber):
      "The flight data of the aircraft \(tailNumber ?? "without a tail number") are in no object of their own."
    }
  }
}
