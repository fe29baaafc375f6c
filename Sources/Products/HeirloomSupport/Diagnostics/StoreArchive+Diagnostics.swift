public import Foundation
public import Heirloom
import HeirloomMigration

extension StoreArchive {
  /// Writes an archive that describes the state of the store for support, by default without any row value.
  ///
  /// It also works on a store that is damaged, missing, in use or newer. It holds the
  /// schema, the model, version hashes, row counts, and the findings of diagnosis. It lists files with sizes and
  /// permissions, previous versions and set-aside stores, versions of the programs, and errors and events of this
  /// assistant's run. Paths are relative to the store's folder. Nothing is written beside the store and no lock is
  /// taken.
  ///
  /// - Parameters:
  ///   - url: The new file, a `.tar.gz` that only this user may read.
  ///   - includeStore: True to add the store itself, with its side files and external data, and the set-aside stores
  ///     that have not returned. Use it only if the person who owns the data has asked for it.
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the archive can't
  ///   be written, for example because the file exists.
  public func makeDiagnosticsArchive(at url: URL, includeStore: Bool = false) throws(MigrationAssistantError) {
    do {
      try DiagnosticsArchive(assistant, location: try assistant.location()).write(
        to: url.path, includesStore: includeStore)
    } catch {
      throw assistant.wrapped(error)
    }
  }
}
