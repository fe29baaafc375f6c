import HeirloomStore
import HeirloomVault

/// A store that a candidate is built from.
struct RunStore {
  let connection: Connection
  let path: String
  /// The path of the original store, beside which the folder of external data is.
  let externalPath: String
  /// Returns true if the copy shares the store's blocks.
  let duplicate: (_ path: String, _ readsAhead: Bool, _ goesOn: CopyWatch) throws(FileError) -> Bool
  /// The byte ranges that such a copy still shares with the store, ascending.
  let sharedRanges: (_ path: String) -> [Range<Int64>]
}
