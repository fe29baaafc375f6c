import Foundation
import HeirloomMigration
import HeirloomSalvage

extension CrashWorld {
  /// Checks a folder after an interrupted salvage: the damaged store is unchanged, the new one is whole or not there.
  func faultOfSalvage(_ folder: String, _ promise: Promise) throws -> String? {
    let output = folder + "/" + CrashApp.salvagedName
    guard try CrashWorld.storeFiles(in: folder) == damaged else { return "the damaged store is not as it was" }
    if exists(output) {
      if let fault = faultOfSalvaged(output) { return fault }
    } else if promise.isMade {
      return "what was reported as done is not"
    }
    // Nothing that was left keeps anybody from salvaging again, under another name if files with this one are there.
    do {
      try app.salvage(in: folder)
      guard !exists(output) || faultOfSalvaged(output) == nil else { return "the next run makes another store" }
    } catch let error as SalvageError {
      guard case .outputExists = error.problem else { return "the next run fails: \(error)" }
      try app.salvage(in: folder, as: "Again.sqlite")
      if let fault = faultOfSalvaged(folder + "/Again.sqlite") { return "the next run: \(fault)" }
    }
    guard try CrashWorld.storeFiles(in: folder) == damaged else { return "the next run changes the damaged store" }
    return nil
  }

  private func faultOfSalvaged(_ path: String) -> String? {
    guard let dump = try? dumps.dump(path) else { return "the new store can't be read" }
    guard let salvaged, dump.isSameVersion(as: salvaged) else { return "the new store lacks what can be read" }
    return nil
  }
}
