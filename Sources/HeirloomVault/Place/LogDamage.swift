import HeirloomModel

/// Damage of a `-wal`, where SQLite stops reading: it drops the rest without an error.
package struct LogDamage: Equatable, Sendable {
  let isHeaderDamaged: Bool
  /// Stray frames included.
  let damagedCount: Int
  /// Of committed changes.
  let frameCount: Int
  /// Frames whose content only the log holds; 0 if only an end without a commit is damaged.
  package let lostCount: Int
  package let name: String

  /// `holdsMore` is true if the last state of some page is in frames that SQLite doesn't read.
  init?(_ content: WriteAheadLog.Content, holdsMore: Bool, name: String) {
    (isHeaderDamaged, frameCount) = (content.isHeaderDamaged, content.frameCount)
    damagedCount = content.damagedCount + content.strayCount
    let unread = content.frameCount - content.readCount + content.damagedCommitCount
    lostCount = holdsMore ? max(1, unread) : 0
    self.name = name
    guard holdsMore || content.isEndDamaged && content.damagedCommitCount == 0 else { return nil }
  }
}

extension LogDamage: CustomStringConvertible {
  package var description: String {
    let found =
      if isHeaderDamaged {
        "The header of the \"-wal\" is damaged: SQLite ignores the log, and the last saved changes are missing."
      } else if damagedCount > 0 {
        "\(damagedCount) of \(frameCount) pages in the \"-wal\" \(CountText.verb("are", damagedCount)) damaged: SQLite"
          + " reads it up to the first of them, and changes that were saved after it are missing."
      } else {
        "The end of the \"-wal\" can't be read: the last change may be missing, if it was saved at all."
      }
    return found + " A migration keeps the log with the previous version, where salvage reads it."
  }
}

extension SoleContent {
  init(framesOf log: String, count: Int) {
    // No other content has this shape: other values have a property, and objects are of another kind.
    self.init(kind: "values", entity: log, property: nil, rows: Int64(count))
  }

  init(pagesOf journal: String, count: Int64) {
    self.init(kind: "values", entity: journal, property: nil, rows: count)
  }

  /// External files that have other content under the same name in the next version.
  init(changedFiles count: Int) {
    self.init(kind: "values", entity: SupportFolder.dataName, property: nil, rows: Int64(count))
  }

  package var isOfLog: Bool { kind == "values" && property == nil && entity.hasSuffix("-wal") }

  package var isOfJournal: Bool { kind == "values" && property == nil && entity.hasSuffix("-journal") }

  package var unit: String {
    guard kind == "values", property == nil else { return "row" }
    return isOfLog ? "frame" : isOfJournal ? "page" : entity == SupportFolder.dataName ? "file" : "row"
  }
}
