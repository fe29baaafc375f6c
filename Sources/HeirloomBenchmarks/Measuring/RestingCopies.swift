import Foundation
import Heirloom

/// Copies of a store, each for one run, which are at rest when they are used.
///
/// An app's store has been at rest since the app's last run. A store that was just written is read twice, as its times
/// can't tell whether it changes meanwhile. Otherwise the time between copy and run would decide what is measured.
struct RestingCopies {
  /// The stores, each in a folder of its own.
  let paths: [String]
  private let made: ContinuousClock.Instant

  /// Makes copies.
  ///
  /// - Parameters:
  ///   - stores: The stores that are copied, one copy for each entry.
  ///   - folder: An empty folder.
  /// - Throws: `FileError`.
  init(of stores: [String], in folder: String) throws(FileError) {
    let files = POSIXFileOperations()
    var paths: [String] = []
    for (index, store) in stores.enumerated() {
      let place = PathText.join(folder, "\(index)")
      try files.makeDirectory(place, attributes: FileAttributes(mode: 0o755))
      let path = PathText.join(place, "Notes.sqlite")
      try files.copyFile(store, to: path, attributes: FileAttributes(mode: 0o644))
      paths.append(path)
    }
    self.paths = paths
    made = .now
  }

  /// Waits until the copies have been at rest for long enough.
  func wait() {
    let rest = StoreVault.Configuration().restTime + 0.5 - made.duration(to: .now) / .seconds(1)
    if rest > 0 { Thread.sleep(forTimeInterval: rest) }
  }
}
