import Heirloom

extension Remedy {
  /// Returns the sentence with the command that carries the remedy out on a file; without a path it says STORE.
  package func command(for path: String?) -> String {
    let file = path.map(shellWord) ?? "STORE"
    return switch self {
    case .inspection: "heirloom inspect \(file) shows what it is."
    case .verification: "heirloom verify \(file) verifies it."
    case .plan: "heirloom plan \(file) --to MODEL tells how."
    case .migration: "heirloom migrate \(file) --to MODEL does it."
    case .previousVersions: "heirloom versions \(file) lists what is kept."
    case .salvage: "heirloom salvage \(file) --output FILE reads what can be read into a new store."
    case .diagnosticsArchive: "heirloom doctor \(file) --archive FILE writes the archive."
    case .repair: "heirloom repair \(file) sets the record aside."
    }
  }
}
