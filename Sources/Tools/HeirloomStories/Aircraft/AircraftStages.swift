package import Heirloom

/// Flight data move from an attribute into separate objects.
///
/// Inference would drop the attribute, so an intermediate version only adds the entity. One handler
/// copies the data, another checks that all of it was copied, and the last stage only removes the
/// attribute.
package final class AircraftStages: Sendable {
  /// As shipped, so that a later edit of a model is detected.
  package static let checksums: [String] = [
    "q4XeWgbJcsuyH/Smfplt1VtTDBSXUsLVGsK3lBIJpig=", "m9g5rsHWxdYfdfd27quPHIsxWBMbNGZgnvhQ6XXhS4U=",
    "O49oHtPaqdiyPzfxxbrOZ6sGxeuStbLjNOuWDyqdh8s=", "CijZGYjVX+diE59cSInJ7UedulNW5C6dOAXh/SP0Z2c=",
  ]

  /// The handlers' actions, as phrases.
  package var log: [String] { lines.withLock { $0 } }
  private let lines = Locked<[String]>([])
  private let willCopy: @Sendable (Int) throws -> Void

  /// `willCopy` gets the number of copies before each one; if it throws, the handler fails.
  package init(willCopy: @escaping @Sendable (Int) throws -> Void = { _ in }) {
    self.willCopy = willCopy
  }

  /// The manager keeps this object alive; `models` are the story's four models in order.
  package func manager(of models: [(name: String, model: ManagedObjectModel)]) throws -> StagedMigrationManager {
    guard models.count == Self.checksums.count else {
      throw FleetError.otherModels(found: models.count, expected: Self.checksums.count)
    }
    let references = zip(models, Self.checksums).map {
      ManagedObjectModelReference(model: $0.model, versionChecksum: $1)
    }
    let versions = zip(models, Self.checksums).map { (name: $0.name, checksum: $1) }
    let colors = LightweightMigrationStage([Self.checksums[0]], label: "colours and flight data")
    let copy = CustomMigrationStage(
      migratingFrom: references[1], to: references[2], label: "flight data become objects")
    copy.didMigrateHandler = { context in
      try self.copyFlightData(in: context)
    }
    let removal = CustomMigrationStage(
      migratingFrom: references[2], to: references[3], label: "the attribute goes")
    removal.willMigrateHandler = { context in
      try self.clearCopiedFlightData(in: context)
    }
    return try StagedMigrationManager([colors, copy, removal], versions: versions)
  }

  private func copyFlightData(in context: ManagedObjectContext) throws {
    let recorded = try context.fetch(ObjectFetchRequest("Aircraft", where: "flightData != nil"))
    for (number, aircraft) in recorded.enumerated() {
      try willCopy(number)
      let record = try context.insert("FlightData")
      try record.set(try aircraft.bytes("flightData"), for: "data")
      try record.setObject(aircraft, forRelationship: "aircraft")
    }
    try context.save()
    lines.withLock { $0.append("flight data of \(recorded.count) aircraft were copied into objects") }
  }

  /// Clears the attribute if an object has the same bytes, and throws if none does.
  private func clearCopiedFlightData(in context: ManagedObjectContext) throws {
    let recorded = try context.fetch(ObjectFetchRequest("Aircraft", where: "flightData != nil"))
    for aircraft in recorded {
      let record = try aircraft.object(forRelationship: FleetObjects.record)
      guard let record, try record.bytes("data") == aircraft.bytes("flightData") else {
        throw FleetError.notCopied(tailNumber: try aircraft.string("tailNumber"))
      }
      try aircraft.setValue(nil, forAttribute: "flightData")
    }
    try context.save()
    lines.withLock { $0.append("\(recorded.count) copies were compared, byte by byte") }
  }
}
