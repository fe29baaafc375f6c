import Foundation
import Heirloom
import HeirloomOutput

/// The tool's words about a set-aside store.
struct SetAsideText {
  private let set: SetAsideFiles
  private let storePath: String
  private let notice: MigrationNotice?
  private let checksum: String?

  init(set: SetAsideFiles, storePath: String) {
    self.set = set
    self.storePath = storePath
    notice = set.notice == nil ? nil : MigrationNotice(set)
    let metadata = try? StoreMetadata(contentsOf: URL(fileURLWithPath: storePath))
    checksum = metadata.map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) }
  }

  private var date: String { Date(timeIntervalSince1970: Double(set.time)).formatted(.iso8601) }

  /// The set-aside store as members of JSON output.
  var members: OutputMembers {
    [
      ("id", .text(set.name)), ("path", .text(storePath)), ("checksum", .optional(checksum)), ("date", .text(date)),
      ("code", .optional(notice?.code)), ("reason", .optional(notice?.reason)),
      ("returned", .boolean(set.adoption != nil)), ("replaced", .optional(set.adoption?.replaced)),
    ]
  }

  /// Returns a table of set-aside stores; nothing where there is none.
  static func lines(_ sets: [SetAsideText], path: String, style: TextStyle) -> [String] {
    guard !sets.isEmpty else { return [] }
    var table = TextTable(
      header: ["Moved aside", "at (UTC)", "model's checksum", "since"], alignments: [.left, .left, .left, .left])
    for aside in sets {
      let since = aside.set.adoption.map { adoption in
        "returned" + (adoption.replaced.map { "; what was there is kept as \($0)" } ?? "")
      }
      table.add([aside.set.name, aside.date, aside.checksum ?? "unknown", since ?? "aside"])
    }
    let reasons = sets.filter { $0.set.adoption == nil }.compactMap { aside in
      aside.notice.map { "\(aside.set.name): \($0.reason)" }
    }
    return [style.bold(counted(Int64(sets.count), "store") + " moved aside, with all that belongs to it")]
      + table.lines() + reasons + [
        "heirloom restore \(shellWord(path)) --set-aside ID --to MODEL brings one to its place again."
      ]
  }
}
