import Heirloom

extension Logbook {
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    guard need.sourceName == "Logbook", need.destinationName == "Logbook 2" else { return nil }
    return try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Flight", to: "Flight", policy: FlightWithPilot.self)
    }
  }

  func read(_ context: ManagedObjectContext) throws {
    for pilot in try LogbookModel.Pilot.fetch(in: context) {
      print("-", try pilot.name, "flew", try pilot.flights.map { try $0.number }.joined(separator: ", "))
    }
  }
}
