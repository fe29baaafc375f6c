public import Foundation
import HeirloomMigration

extension StoreArchive {
  /// Writes an archive that tells a supporter the state of the store and, by default, holds no value of any row.
  ///
  /// It works on a store that is damaged, missing, held by others or newer: that is when it is needed. It holds the
  /// schema, the model, version hashes, counts of rows, and what diagnosis finds. It lists files with sizes and
  /// permissions, what is kept beside the store, versions of the programs, and errors and events of this assistant's
  /// run. Paths begin at the store's folder. Nothing is written beside the store and no lock is taken.
  ///
  /// - Parameters:
  ///   - url: The new file, a `.tar.gz` that only this user may read.
  ///   - includeStore: True to add the store itself, with its side files and external data, and the set-aside stores
  ///     that have not returned: only if the person who owns the data has asked for that.
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the archive can't
  ///   be written, such as over a file that is there.
  public func makeDiagnosticsArchive(at url: URL, includeStore: Bool = false) throws(MigrationAssistantError) {
    do {
      try DiagnosticsArchive(assistant, location: try assistant.location()).write(
        to: url.path, includesStore: includeStore)
    } catch {
      throw assistant.wrapped(error)
    }
  }
}

/// The release of the library.
package enum HeirloomRelease {
  /// The version.
  package static let version: String = "1.0.0"
}
