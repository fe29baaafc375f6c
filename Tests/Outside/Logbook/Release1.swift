import Heirloom

extension Logbook {
  func read(_ context: ManagedObjectContext) throws {
    if try context.count("Flight") == 0 {
      for (number, name) in [("LH 1", "Ada"), ("LH 2", "Ada"), ("LH 3", "Bob")] {
        let flight = try LogbookModel.Flight.insert(into: context)
        try flight.set(number: number)
        try flight.set(pilotName: name)
      }
      try context.save()
    }
    for flight in try LogbookModel.Flight.fetch(in: context) {
      print("-", try flight.number, "by", try flight.pilotName)
    }
  }
}
