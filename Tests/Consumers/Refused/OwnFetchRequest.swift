// Refused: cannot convert value
import Heirloom
import SwiftUI

/// Proof that the frameworks' names are there: `FetchRequest` is SwiftUI's.
let request: FetchRequest<Int> = ObjectFetchRequest("Note")
