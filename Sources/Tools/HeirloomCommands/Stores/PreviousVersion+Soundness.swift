import Foundation
import Heirloom

extension PreviousVersion {
  /// Reads the version completely, with the model kept beside it.
  func soundness() throws(StoreError) -> StoreSoundness {
    let model = StorePlace.snapshot(of: self).flatMap { try? ModelFile($0).read().model }
    return try StoreSoundness(ofStoreAt: storeURL.path, model: model)
  }

  /// Reads the version completely.
  var isSound: Bool { (try? soundness()).map { $0.fault == nil } ?? false }

  /// `nil` if the version is sound or can't be read now.
  var fault: String? {
    do throws(StoreError) {
      return try soundness().fault
    } catch {
      // Without its main file, the version is only a folder.
      return [.missing, .notFile].contains(error.problem) ? "its store file is missing" : nil
    }
  }
}
