public import Heirloom
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension StoreArchive {
  /// Verifies the store against its format and its model, and the files kept beside it.
  ///
  /// The whole file is read; nothing is written and the vault's lock isn't taken. The model is that of the snapshot
  /// beside the store, of the assistant's history, or the store's own copy.
  ///
  /// - Returns: The findings; damage is a finding, not an error.
  /// - Throws: ``MigrationAssistantError/unreadableStore(_:)`` for a file that is not a store, or can't be read.
  public func verifyStore() throws(MigrationAssistantError) -> StoreReport {
    do {
      var report = try StoreVerification.report(onStoreAt: assistant.location().path, candidates: modelCandidates())
      report.add(try assistant.vault().findings())
      return report
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Most trusted first.
  func modelCandidates() -> [StoreModelCandidate] {
    var candidates: [StoreModelCandidate] = []
    do {
      if let snapshot = try assistant.modelController.snapshot() {
        candidates.append(StoreModelCandidate(source: .snapshot, model: snapshot.model))
      }
    } catch {
      candidates.append(StoreModelCandidate(source: .snapshot, problem: ErrorWords.sentence("\(error)")))
    }
    if let metadata = try? assistant.storeMetadata(), let name = assistant.versionName(of: metadata),
      let model = try? assistant.history.model(named: name)
    {
      candidates.append(StoreModelCandidate(source: .file(name), model: model))
    }
    return candidates
  }
}
