import Foundation
import HeirloomFormats

extension VaultError: LocalizedError {
  package var errorDescription: String? { ErrorWords.sentence(description) }

  package var recoverySuggestion: String? {
    switch self {
    case .outcomeUnknown, .unreadableStore, .unusableSetAsideStore, .damagedManifest: suggestion
    default: isAboutStore ? "The store was not changed. \(suggestion)" : suggestion
    }
  }
}

extension FileError: LocalizedError {
  package var errorDescription: String? { ErrorWords.sentence(description) }

  package var recoverySuggestion: String? {
    switch foundationCode {
    case 640: "Free some room on its volume, then try again."
    case _ where operation == .resolve:
      "Put the folder or the volume itself back there, or a link to a folder that belongs to who made the link; then try again."
    case 642: "Its volume is mounted for reading only: give it back for writing, or move the store to another."
    case 514: "Move the store to a folder with a shorter path, or give it a shorter name, then try again."
    case 513: "Give this process the right to write there, then try again."
    default: "Try again; if it fails again, check the volume and its connection."
    }
  }
}
