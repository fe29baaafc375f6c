import Foundation
import Heirloom

/// Copies that are at rest when they are used, one for each run.
///
/// An app's store has been at rest since the app's last run. A store that was just written is read
/// twice, because its times can't prove that it is unchanged.
struct RestingCopies {
  /// Each in its own folder.
  let paths: [String]
  private let made: ContinuousClock.Instant

  /// `folder` must be empty.
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

  func wait() {
    let rest = VaultConfiguration().restTime + 0.5 - made.duration(to: .now) / .seconds(1)
    if rest > 0 { Thread.sleep(forTimeInterval: rest) }
  }
}
