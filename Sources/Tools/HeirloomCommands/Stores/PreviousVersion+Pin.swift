import Heirloom
import HeirloomOutput

extension PreviousVersion {
  func pinWords(path: String) -> String? {
    guard isPinned else { return nil }
    let release = "heirloom versions \(shellWord(path)) --release \(id) unpins it."
    guard !alone.isEmpty else {
      return "\(id) is pinned: no comparison has found all its rows in another store. \(release)"
    }
    let names = alone.map { content in
      let name = content.property.map { "\(content.entity).\($0)" } ?? content.entity
      return "\(counted(content.rows, content.unit)) of \(name)"
    }
    return "\(id) is pinned: it holds \(listText(names, limit: 6))"
      + (unlistedLossCount > 0 ? " and \(unlistedLossCount) more" : "")
      + " that the store lacked when it was last compared. \(release)"
  }
}
