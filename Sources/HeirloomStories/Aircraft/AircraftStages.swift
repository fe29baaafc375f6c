package import Heirloom

/// The stages of the story's stores to the last version.
///
/// Flight data move from an attribute into objects of their own.
/// Inference alone can't do that: it would drop the attribute. So a version in between only adds;
/// a handler copies, another checks that everything was copied, and the last stage only removes.
package final class AircraftStages: Sendable {
  /// The checksums of the four models from when they were shipped: a later edit of a model is noticed.
  package static let checksums: [String] = [
    "q4XeWgbJcsuyH/Smfplt1VtTDBSXUsLVGsK3lBIJpig=", "m9g5rsHWxdYfdfd27quPHIsxWBMbNGZgnvhQ6XXhS4U=",
    "O49oHtPaqdiyPzfxxbrOZ6sGxeuStbLjNOuWDyqdh8s=", "CijZGYjVX+diE59cSInJ7UedulNW5C6dOAXh/SP0Z2c=",
  ]

  /// The work of the handlers, in phrases.
  package var log: [String] { lines.withLock { $0 } }
  private let lines = Locked<[String]>([])
  private let willCopy: @Sendable (Int) throws -> Void

  /// Creates the code of the stages.
  ///
  /// - Parameter willCopy: The action before each copy, which receives the number of copies so far; an error of it ends
  ///   the handler.
  package init(willCopy: @escaping @Sendable (Int) throws -> Void = { _ in }) {
    self.willCopy = willCopy
  }

  /// Returns the manager of the stages.
  ///
  /// - Parameter models: The story's four models in their order, with their names.
  /// - Returns: The manager, which keeps this object alive.
  /// - Throws: `StagedMigrationError`, ``FleetError/otherModels(found:expected:)``.
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

  /// Makes an object for each aircraft's flight data.
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

  /// Empties the attribute once an object holds the same bytes, and throws if none does.
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
