package import Heirloom
import HeirloomOutput

extension Remedy {
  /// `kept` is a previous version's file, `models` the paths that a repair needs.
  package func command(for path: String, ofKept kept: String? = nil, models: [String] = []) -> String? {
    let file = shellWord(kept ?? path)
    let place = StorePlace(path)
    switch self {
    case .inspection: return "heirloom inspect \(file) shows what it is."
    case .verification: return "heirloom verify \(file) verifies it."
    case .plan: return "The command plan shows how: give it the app's model with --to."
    case .migration:
      guard let snapshot = place.snapshot else {
        return "The command migrate does it: give it the app's model with --to."
      }
      return "heirloom migrate \(file) --to \(shellWord(snapshot)) does it."
    case .previousVersions:
      guard place.keepsSomething else { return "No previous version of it is kept." }
      return "heirloom versions \(file) lists what is kept."
    case .salvage:
      guard StorePlace(kept ?? path).holdsPages else { return nil }
      guard let command = kept.map({ place.salvage(ofKept: $0) }) ?? place.salvage() else {
        return "The command salvage reads what can be read into a new store: give it the app's model with --model."
      }
      return "\(command) reads what can be read into a new store."
    case .diagnosticsArchive:
      return "heirloom doctor \(file) --archive \(shellWord(place.free("diagnostics.tar.gz"))) writes the archive."
    case .repair: return "\(place.repair(models: models)) does it."
    }
  }
}
