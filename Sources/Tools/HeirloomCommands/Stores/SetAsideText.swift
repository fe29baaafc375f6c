import Foundation
import Heirloom
import HeirloomOutput

final class SetAsideText {
  private let store: SetAsideStore
  private let label: VersionLabel

  init(_ store: SetAsideStore, names: [String: String]) {
    self.store = store
    label = VersionLabel(store.versionName, checksum: store.versionChecksum, names: names)
  }

  private var date: String { store.date.formatted(.iso8601) }

  private var hasReturned: Bool {
    guard case .putBack = store.state else { return false }
    return true
  }

  /// The previous version that holds the replaced store; `nil` if it isn't known.
  private var replaced: String? {
    guard case .putBack(_, let replaced) = store.state else { return nil }
    return replaced
  }

  var members: OutputMembers {
    [
      ("id", .text(store.id)), ("path", .text(store.storeURL.path)),
    ] + label.members + [
      ("date", .text(date)), ("code", .optional(store.notice?.code)), ("reason", .optional(store.notice?.reason)),
      ("returned", .boolean(hasReturned)), ("replaced", .optional(replaced)),
    ]
  }

  static func lines(_ sets: [SetAsideText], path: String, style: TextStyle) -> [String] {
    guard !sets.isEmpty else { return [] }
    var table = TextTable(
      header: ["Moved aside", "at (UTC)", "model", "since"], alignments: [.left, .left, .left, .left])
    for aside in sets {
      let since =
        aside.hasReturned
        ? "returned" + (aside.replaced.map { "; the store that was there is kept as \($0)" } ?? "") : "aside"
      table.add([aside.store.id, aside.date, aside.label.words, since])
    }
    let reasons = sets.filter { !$0.hasReturned }.compactMap { aside in
      aside.store.notice.map { "\(aside.store.id): \($0.reason)" }
    }
    return [style.bold(counted(Int64(sets.count), "store") + " moved aside, with all that belongs to it")]
      + table.lines() + reasons + [
        "The command restore puts one back in its place: give it the name with --set-aside, and the model with --to."
      ]
  }
}
