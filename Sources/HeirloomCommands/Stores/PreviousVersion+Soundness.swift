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
  var isSound: Bool { (try? soundness().fault) == .some(nil) }
}
