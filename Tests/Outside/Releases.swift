// An app of five releases in one program: `Releases RELEASE MODELS STORE step|delegate open|make`. Release N has what release N would have:
// its model's history, and every step, delegate and decision that it or a release before it ever needed.
import Foundation
import Heirloom

let arguments = CommandLine.arguments
let release = Int(arguments[1]) ?? 0
let storeURL = URL(fileURLWithPath: arguments[3])

/// Makes a flight, and its pilot or finds them again.
final class FlightWithPilot: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let flight = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard let name = try source.string("pilotName") else { return }
    let context = manager.destinationContext
    let pilot =
      try context.fetch(ObjectFetchRequest("Pilot", where: "name == %@", name)).first ?? context.insert("Pilot")
    try pilot.set(name, for: "name")
    try flight.setObject(pilot, forRelationship: "pilot")
  }
}

final class Delegate: MigrationAssistantDelegate {
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    guard need.sourceName == "Flights 2", need.destinationName == "Flights 3" else { return nil }
    return try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Flight", to: "Flight", policy: FlightWithPilot.self)
    }
  }

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    if case .pinned(_, let losses) = event { print("pinned:", losses) }
  }
}

/// A flight as a person knows it.
struct Row {
  let number: Int
  let gate: String?
  let pilot: String?
  let airline: String?
  let note: String?
}
var rows = [
  Row(number: 1, gate: "A1", pilot: "Ada", airline: "LH", note: "late"),
  Row(number: 2, gate: nil, pilot: "Ada", airline: "LH", note: nil),
  Row(number: 3, gate: "B1", pilot: "Bob", airline: "BA", note: "full"),
]
// The fourth release has no place for these.
if release < 4 {
  rows += [
    Row(number: 3, gate: "B2", pilot: nil, airline: "BA", note: "again"),
    Row(number: 4, gate: "C1", pilot: "Eve", airline: nil, note: nil),
  ]
}

do {
  var history = try ModelHistory(contentsOf: URL(fileURLWithPath: arguments[2]))
  var options = PersistentStoreOptions()
  options.delegate = Delegate()
  if release >= 3, arguments[4] == "step" {
    options.delegate = nil
    try history.step(from: "Flights 2", to: "Flights 3") {
      EntityMapping(from: "Flight", to: "Flight", policy: FlightWithPilot.self)
    }
  }
  if release >= 4 {
    options.migration.decisions = [
      DataDecision(entity: "Flight", property: "airline", .fill(.string("unknown"))),
      DataDecision(entity: "Flight", property: "number", .keepNewest(by: nil)),
    ]
  }
  let store = try PersistentStore.open(at: storeURL, history: history, options: options)
  if arguments[5] == "make" {
    let context = ManagedObjectContext(store: store)
    for row in rows {
      let flight = try context.insert("Flight")
      try flight.set(row.number, for: "number")
      try flight.set(row.gate, for: release >= 2 ? "stand" : "gate")
      try flight.set(row.airline, for: "airline")
      if release < 5 { try flight.set(row.note, for: "note") }
      guard release >= 3 else {
        try flight.set(row.pilot, for: "pilotName")
        continue
      }
      guard let name = row.pilot else { continue }
      let pilot =
        try context.fetch(ObjectFetchRequest("Pilot", where: "name == %@", name)).first ?? context.insert("Pilot")
      try pilot.set(name, for: "name")
      try flight.setObject(pilot, forRelationship: "pilot")
    }
    try context.save()
  }
  try store.close()
} catch {
  print("\(error)")
  exit(1)
}
