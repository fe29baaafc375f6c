import Foundation
package import HeirloomStore
import HeirloomVault

extension StoreArchive {
  /// `proof` gets a connection on which the store is `main` and the copy is attached as
  /// `candidate`.
  ///
  /// After an error the store is unchanged, unless the error says that the outcome is unknown.
  package func replaceStore<Value>(
    changing change: (Connection) throws -> Value, proving proof: (Connection) throws -> Void
  ) throws(MigrationAssistantError) -> (value: Value, previous: PreviousVersion) {
    do {
      let vault = try assistant.vault()
      var replacement = assistant.descriptionOfStore()
      replacement.bytesNeeded = UInt64(clamping: try assistant.files.status(of: vault.location.path)?.size ?? 0)
      let swap = try vault.begin()
      do {
        let store = try swap.hold(replacement)
        let path = swap.candidatePath
        try store.duplicateStore(to: path, readsAhead: false) { _ in !assistant.progress.isCancelled }
        let copy = try Connection(path: path, mode: .readWrite, options: .building.withoutLinks)
        // A failed copy is discarded.
        try copy.execute("PRAGMA journal_mode = OFF")
        try copy.execute("PRAGMA synchronous = OFF")
        let value = try change(copy)
        try StoreReading.give(StoreMetadata.newGeneration(), to: copy)
        try copy.close()
        try swap.prove {
          try store.connection.attach(path: path, as: "candidate", mode: .readOnly)
          try proof(store.connection)
          try store.connection.detach("candidate")
        }
        guard !assistant.progress.isCancelled else { throw MigrationError.cancelled }
        return (value, PreviousVersion(try swap.commit()))
      } catch {
        let failure = swap.rollBack(after: error)
        throw assistant.progress.isCancelled ? MigrationError.cancelled : failure
      }
    } catch {
      throw assistant.wrapped(error)
    }
  }
}
