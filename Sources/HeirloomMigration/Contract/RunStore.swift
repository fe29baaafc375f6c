import HeirloomStore
import HeirloomVault

/// A store that a candidate is built from.
struct RunStore {
  /// The connection that holds the store.
  let connection: Connection
  /// The store's file.
  let path: String
  /// The store's file as others know it: external data are in a folder beside it.
  let externalPath: String
  /// Makes a file a copy of the store; says whether it shares the store's blocks.
  let duplicate: (_ path: String, _ readsAhead: Bool, _ goesOn: CopyWatch) throws(FileError) -> Bool
  /// Returns where such a copy still shares the store's blocks: ranges in bytes, rising.
  let sharedRanges: (_ path: String) -> [Range<Int64>]
}
