// Made by heirloom generate. Regenerate it instead of editing it.
// swift-format-ignore-file

public import Foundation
public import Heirloom

/// The entities of version "Aircraft 3".
public nonisolated enum AircraftModel {
  /// An object of the entity "Aircraft".
  public nonisolated struct Aircraft: TypedObject {
    public static let entityName = "Aircraft"
    public static var properties: Properties { Properties(keyPath: "") }
    public let managedObject: ManagedObject

    public init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    public static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "aircraftCategory" (String, optional).
    public var aircraftCategory: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("aircraftCategory") }
    }

    /// Sets "aircraftCategory".
    public func set(aircraftCategory value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "aircraftCategory")
    }

    /// The attribute "aircraftClass" (String, optional).
    public var aircraftClass: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("aircraftClass") }
    }

    /// Sets "aircraftClass".
    public func set(aircraftClass value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "aircraftClass")
    }

    /// The attribute "aircraftType" (String, optional).
    public var aircraftType: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("aircraftType") }
    }

    /// Sets "aircraftType".
    public func set(aircraftType value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "aircraftType")
    }

    /// A value of the composite attribute "colorScheme".
    public nonisolated struct ColorSchemeValue: TypedValue {
      /// The element "primary" (String, optional).
      public var primary: String?
      /// The element "secondary" (String, optional).
      public var secondary: String?
      /// The element "tertiary" (String, optional).
      public var tertiary: String?

      /// Creates a value of its elements.
      public init(primary e0: String? = nil, secondary e1: String? = nil, tertiary e2: String? = nil) {
        self.primary = e0
        self.secondary = e1
        self.tertiary = e2
      }

      /// Creates a value of an attribute's; `nil` if an element is missing or of another type.
      public init?(attributeValue: AttributeValue?) {
        guard
          let attributeValue,
          let e0: String? = attributeValue.element("primary"),
          let e1: String? = attributeValue.element("secondary"),
          let e2: String? = attributeValue.element("tertiary")
        else { return nil }
        self.primary = e0
        self.secondary = e1
        self.tertiary = e2
      }

      /// The value as an attribute holds it.
      public var attributeValue: AttributeValue? {
        var elements: [String: AttributeValue] = [:]
        elements["primary"] = self.primary.attributeValue
        elements["secondary"] = self.secondary.attributeValue
        elements["tertiary"] = self.tertiary.attributeValue
        return .composite(elements)
      }

      /// The properties that fetches name.
      public nonisolated struct Properties {
        private let keyPath: String

        /// Creates the properties below a key path, which is empty or ends with a point.
        public init(keyPath: String) { self.keyPath = keyPath }

        /// The path to "primary".
        public var primary: TypedAttribute<String> { TypedAttribute(keyPath + "primary") }
        /// The path to "secondary".
        public var secondary: TypedAttribute<String> { TypedAttribute(keyPath + "secondary") }
        /// The path to "tertiary".
        public var tertiary: TypedAttribute<String> { TypedAttribute(keyPath + "tertiary") }
      }
    }

    /// The attribute "colorScheme" (Composite, optional).
    public var colorScheme: ColorSchemeValue? {
      get throws(ManagedObjectError) { try managedObject.typedValue("colorScheme") }
    }

    /// Sets "colorScheme".
    public func set(colorScheme value: ColorSchemeValue?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "colorScheme")
    }

    /// The attribute "photo" (Binary, optional).
    public var photo: Data? {
      get throws(ManagedObjectError) { try managedObject.typedValue("photo") }
    }

    /// Sets "photo".
    public func set(photo value: Data?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "photo")
    }

    /// The attribute "tailNumber" (String, optional).
    public var tailNumber: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("tailNumber") }
    }

    /// Sets "tailNumber".
    public func set(tailNumber value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "tailNumber")
    }

    /// The relationship "logEntries" to objects of "LogEntry", saved ones by primary key, then new ones.
    public var logEntries: [LogEntry] {
      get throws(ManagedObjectError) { try managedObject.typedObjects("logEntries") }
    }

    /// Sets "logEntries".
    public func set(logEntries value: [LogEntry]) throws(ManagedObjectError) {
      try managedObject.setObjects(value.map(\.managedObject), forRelationship: "logEntries")
    }

    /// The relationship "recordedFlight" to one object of "FlightData", optional.
    public var recordedFlight: FlightData? {
      get throws(ManagedObjectError) { try managedObject.typedObject("recordedFlight") }
    }

    /// Sets "recordedFlight".
    public func set(recordedFlight value: FlightData?) throws(ManagedObjectError) {
      try managedObject.setObject(value?.managedObject, forRelationship: "recordedFlight")
    }

    /// The properties that fetches name.
    public nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      public init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "aircraftCategory".
      public var aircraftCategory: TypedAttribute<String> { TypedAttribute(keyPath + "aircraftCategory") }
      /// The path to "aircraftClass".
      public var aircraftClass: TypedAttribute<String> { TypedAttribute(keyPath + "aircraftClass") }
      /// The path to "aircraftType".
      public var aircraftType: TypedAttribute<String> { TypedAttribute(keyPath + "aircraftType") }
      /// The path to "colorScheme".
      public var colorScheme: ColorSchemeValue.Properties { .init(keyPath: keyPath + "colorScheme.") }
      /// The path to "photo".
      public var photo: TypedAttribute<Data> { TypedAttribute(keyPath + "photo") }
      /// The path to "tailNumber".
      public var tailNumber: TypedAttribute<String> { TypedAttribute(keyPath + "tailNumber") }
      /// The path to "recordedFlight".
      public var recordedFlight: FlightData.Properties { .init(keyPath: keyPath + "recordedFlight.") }
    }
  }
  /// An object of the entity "FlightData".
  public nonisolated struct FlightData: TypedObject {
    public static let entityName = "FlightData"
    public static var properties: Properties { Properties(keyPath: "") }
    public let managedObject: ManagedObject

    public init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    public static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "data" (Binary, optional).
    public var data: Data? {
      get throws(ManagedObjectError) { try managedObject.typedValue("data") }
    }

    /// Sets "data".
    public func set(data value: Data?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "data")
    }

    /// The relationship "aircraft" to one object of "Aircraft", optional.
    public var aircraft: Aircraft? {
      get throws(ManagedObjectError) { try managedObject.typedObject("aircraft") }
    }

    /// Sets "aircraft".
    public func set(aircraft value: Aircraft?) throws(ManagedObjectError) {
      try managedObject.setObject(value?.managedObject, forRelationship: "aircraft")
    }

    /// The properties that fetches name.
    public nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      public init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "data".
      public var data: TypedAttribute<Data> { TypedAttribute(keyPath + "data") }
      /// The path to "aircraft".
      public var aircraft: Aircraft.Properties { .init(keyPath: keyPath + "aircraft.") }
    }
  }
  /// An object of the entity "LogEntry".
  public nonisolated struct LogEntry: TypedObject {
    public static let entityName = "LogEntry"
    public static var properties: Properties { Properties(keyPath: "") }
    public let managedObject: ManagedObject

    public init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    public static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "date" (Date, optional).
    public var date: Date? {
      get throws(ManagedObjectError) { try managedObject.typedValue("date") }
    }

    /// Sets "date".
    public func set(date value: Date?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "date")
    }

    /// The attribute "remarks" (String, optional).
    public var remarks: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("remarks") }
    }

    /// Sets "remarks".
    public func set(remarks value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "remarks")
    }

    /// The relationship "aircraft" to one object of "Aircraft", optional.
    public var aircraft: Aircraft? {
      get throws(ManagedObjectError) { try managedObject.typedObject("aircraft") }
    }

    /// Sets "aircraft".
    public func set(aircraft value: Aircraft?) throws(ManagedObjectError) {
      try managedObject.setObject(value?.managedObject, forRelationship: "aircraft")
    }

    /// The properties that fetches name.
    public nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      public init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "date".
      public var date: TypedAttribute<Date> { TypedAttribute(keyPath + "date") }
      /// The path to "remarks".
      public var remarks: TypedAttribute<String> { TypedAttribute(keyPath + "remarks") }
      /// The path to "aircraft".
      public var aircraft: Aircraft.Properties { .init(keyPath: keyPath + "aircraft.") }
    }
  }
}
