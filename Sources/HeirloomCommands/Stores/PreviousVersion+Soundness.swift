import Foundation
import Heirloom

extension PreviousVersion {
  /// Tests if the version can be read whole, by the model that is kept with it.
  ///
  /// - Throws: `StoreError` when it can't be read now.
  func soundness() throws(StoreError) -> StoreSoundness {
    let model = StorePlace.snapshot(of: self).flatMap { try? ModelFile($0).read().model }
    return try StoreSoundness(ofStoreAt: storeURL.path, model: model)
  }

  /// True if the version can be read whole: it is read now.
  var isSound: Bool { (try? soundness()).map { $0.fault == nil } ?? false }

  /// The reason why the version can't be read whole, as a phrase; `nil` for a sound one, and for one that can't be read now.
  var fault: String? {
    do throws(StoreError) {
      return try soundness().fault
    } catch {
      // Without its main file, the folder is all that is known of it.
      return [.missing, .notFile].contains(error.problem) ? "its store file is gone" : nil
    }
  }
}
