import Heirloom
import SwiftUI

/// A view that has rows of its own framework beside the values of Heirloom.
struct VersionsView: View {
  @FetchRequest(sortDescriptors: []) var notes: FetchedResults<Note>
  @State private var versions: [PreviousVersion] = []
  let archive: StoreArchive

  var body: some View {
    VStack {
      Text("\(notes.count) notes, \(versions.count) earlier versions")
    }
    .task { load() }
  }

  private func load() {
    versions = (try? archive.previousVersions()) ?? []
  }
}

final class Note: NSFetchRequestResult {}
