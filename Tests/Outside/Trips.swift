import SwiftData

@Model final class Trip {
  var name: String = ""
  init() {}
}

let container = try ModelContainer(for: Trip.self)
