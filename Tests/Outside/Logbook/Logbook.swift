import Foundation
import Heirloom

/// A logbook that writes three flights at its first start and reads them at each.
@main
final class Logbook: MigrationAssistantDelegate {
  let storeURL = URL(fileURLWithPath: "Logbook.sqlite")
  let modelURL = Bundle.main.bundleURL.appendingPathComponent("Models/Logbook.xcdatamodeld")

  static func main() {
    do {
      let logbook = Logbook()
      try logbook.launch()
      let store = try PersistentStore.open(at: logbook.storeURL, history: ModelHistory(contentsOf: logbook.modelURL))
      try logbook.read(ManagedObjectContext(store: store))
      try store.close()
    } catch {
      print(error)
      exit(1)
    }
  }
}
