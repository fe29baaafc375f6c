package import Foundation
package import Heirloom

/// The content of a store of the story Aircraft, in any version.
package struct Fleet: Equatable, Sendable {
  package struct ColorScheme: Equatable, Sendable {
    package var primary: String?
    package var secondary: String?
    package var tertiary: String?

    package init(primary: String? = nil, secondary: String? = nil, tertiary: String? = nil) {
      self.primary = primary
      self.secondary = secondary
      self.tertiary = tertiary
    }
  }

  package struct LogEntry: Equatable, Sendable {
    /// In seconds since 2001-01-01 UTC.
    package var date: Double?
    package var remarks: String?

    package init(date: Double?, remarks: String?) {
      self.date = date
      self.remarks = remarks
    }
  }

  package struct Aircraft: Equatable, Sendable {
    package var category: String?
    package var aircraftClass: String?
    package var type: String?
    package var tailNumber: String?
    /// Empty bytes differ from `nil`.
    package var photo: [UInt8]?
    /// In the order of the entries' primary keys.
    package var logEntries: [LogEntry]
    /// `nil` if no element has a value, and in the first version.
    package var colorScheme: ColorScheme?
    /// In whatever property the version stores it; `nil` in the first version.
    package var flightData: [UInt8]?

    /// With the properties of the first version.
    package init(
      tailNumber: String?, category: String? = nil, aircraftClass: String? = nil, type: String? = nil,
      photo: [UInt8]? = nil, logEntries: [LogEntry] = []
    ) {
      self.category = category
      self.aircraftClass = aircraftClass
      self.type = type
      self.tailNumber = tailNumber
      self.photo = photo
      self.logEntries = logEntries
    }
  }

  /// In the order of their primary keys.
  package var aircraft: [Aircraft]

  package init(_ aircraft: [Aircraft]) {
    self.aircraft = aircraft
  }

  package var logEntryCount: Int { aircraft.map(\.logEntries.count).reduce(0, +) }
  /// Includes aircraft with empty data.
  package var recordedCount: Int { aircraft.count { $0.flightData != nil } }

  /// The store may have any version; `model` is the version's.
  package init(of url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    let entity = model.entities.first { $0.name == "Aircraft" }
    let hasColors = entity?.attributes.contains { $0.name == "colorScheme" } ?? false
    let hasFlightData = entity?.attributes.contains { $0.name == "flightData" } ?? false
    let hasRecords = entity?.relationships.contains { $0.name == FleetObjects.record } ?? false
    aircraft = try ManagedObjectContext(store: store).fetch("Aircraft").map { object in
      var aircraft = Aircraft(
        tailNumber: try object.string("tailNumber"), category: try object.string("aircraftCategory"),
        aircraftClass: try object.string("aircraftClass"), type: try object.string("aircraftType"),
        photo: try object.bytes("photo"),
        logEntries: try object.objects(forRelationship: "logEntries").map { entry in
          LogEntry(
            date: try entry.date("date")?.timeIntervalSinceReferenceDate, remarks: try entry.string("remarks"))
        })
      if hasColors { aircraft.colorScheme = try FleetObjects.colorScheme(of: object) }
      if hasFlightData { aircraft.flightData = try object.bytes("flightData") }
      if hasRecords, let record = try object.object(forRelationship: FleetObjects.record) {
        aircraft.flightData = try record.bytes("data")
      }
      return aircraft
    }
    try store.close()
  }

  /// A store of the first version, or of a later one without its new properties.
  package func makeStore(at url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    for aircraft in aircraft {
      let object = try context.insert("Aircraft")
      try object.set(aircraft.category, for: "aircraftCategory")
      try object.set(aircraft.aircraftClass, for: "aircraftClass")
      try object.set(aircraft.type, for: "aircraftType")
      try object.set(aircraft.tailNumber, for: "tailNumber")
      try object.set(aircraft.photo, for: "photo")
      for entry in aircraft.logEntries {
        let line = try context.insert("LogEntry")
        try line.setValue(entry.date.map { .date($0) }, forAttribute: "date")
        try line.set(entry.remarks, for: "remarks")
        try line.setObject(object, forRelationship: "aircraft")
      }
    }
    try context.save()
    try store.close()
  }

  /// In a store of the second version; throws if it has another number of aircraft.
  package func addColorsAndFlightData(to url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.open(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    let objects = try context.fetch("Aircraft")
    guard objects.count == aircraft.count else {
      throw FleetError.otherAircraft(found: objects.count, expected: aircraft.count)
    }
    for (object, aircraft) in zip(objects, aircraft) {
      try FleetObjects.paint(object, aircraft.colorScheme)
      try object.set(aircraft.flightData, for: "flightData")
    }
    try context.save()
    try store.close()
  }
}
