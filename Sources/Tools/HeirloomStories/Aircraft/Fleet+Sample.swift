extension Fleet {
  /// Names are in many alphabets, and pictures and logs may be missing or empty.
  package static func sample(count: Int) -> Fleet {
    let tails = ["D-EABC", "G-ŌÇÉ", "空-12 ✈️", "N172SP", "", "F-ÀÉ\u{301}", "4X-שלום", "ES-👩🏽‍✈️"]
    let types = ["Cessna 172", "Робинсон R44", "DG-1000", "Aquila A210", "ASK 21 \"Fuchs\""]
    let remarks = ["Leaves hangar", "Öl nachgefüllt", "50 h inspection; ok", "", "着陸灯を交換"]
    var fleet = Fleet([])
    for number in 0..<count {
      var aircraft = Aircraft(tailNumber: tails[number % tails.count] + (number < 8 ? "" : " \(number)"))
      if number % 11 == 10 { aircraft.tailNumber = nil }
      if number % 13 != 12 { aircraft.category = number % 5 == 2 ? "Glider" : "Airplane" }
      if number % 7 != 3 { aircraft.aircraftClass = "Single-engine land" }
      aircraft.type = types[number % types.count]
      aircraft.photo = bytes(number, length: number % 3 == 1 ? 300 + number % 200 : 0, isAbsent: number % 3 == 2)
      for line in 0..<(number % 4) {
        // One entry a day from 2020-01-01 on, half a second after midnight.
        let date = 599_529_600.5 + Double(number * 4 + line) * 86_400
        let place = number + line
        aircraft.logEntries.append(
          LogEntry(
            date: place % 9 == 5 ? nil : date, remarks: place % 6 == 5 ? nil : remarks[place % remarks.count]))
      }
      fleet.aircraft.append(aircraft)
    }
    return fleet
  }

  /// Some aircraft have only one colour or none, and some have empty flight data or none.
  package func paintedAndFlown() -> Fleet {
    var fleet = self
    for number in fleet.aircraft.indices {
      switch number % 5 {
      case 0, 1: fleet.aircraft[number].colorScheme = ColorScheme(primary: "white", secondary: "blue", tertiary: "göld")
      case 2: fleet.aircraft[number].colorScheme = ColorScheme(primary: "红")
      case 3: fleet.aircraft[number].colorScheme = ColorScheme(primary: "", tertiary: "white")
      default: break
      }
      fleet.aircraft[number].flightData = Self.bytes(
        number, length: number % 4 == 1 ? 0 : 40 + number % 500, isAbsent: number % 4 == 3)
    }
    return fleet
  }

  private static func bytes(_ number: Int, length: Int, isAbsent: Bool) -> [UInt8]? {
    guard !isAbsent else { return nil }
    return (0..<length).map { UInt8(truncatingIfNeeded: ($0 &* 37) ^ (number &* 101)) }
  }
}
