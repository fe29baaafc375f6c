import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// For each version, its path to the next and the current one, and what its stores lose.
struct HistoryTable {
  private struct Way {
    /// The text of the table's cell.
    let word: String
    /// They need a decision if the store has such rows.
    var decisions: [DataEffect] = []
    /// Empty if a mapping can be inferred.
    var obstacles: [MappingObstacle] = []
  }

  private struct Row {
    let version: CheckedHistory.Version
    let place: String
    let next: Way?
    let current: Way?
    let losses: [LossReview.Loss]

    /// Without duplicate names; a name is acknowledged only if all its kinds are.
    var namedLosses: [LossReview.Loss] {
      losses.reduce(into: []) { named, loss in
        guard let place = named.firstIndex(where: { $0.name == loss.name }) else { return named.append(loss) }
        named[place].isAcknowledged = named[place].isAcknowledged && loss.isAcknowledged
      }
    }
  }

  private let history: CheckedHistory
  private let path: String
  private var rows: [Row] = []
  private let renames: [HistoryFinding]
  /// Names of losses that are neither acknowledged nor explained by a suspected rename.
  private let open: [String]

  /// No store is made; `byApp` names the versions whose next step app code migrates.
  init(of history: CheckedHistory, path: String, mappings: GivenMappings, byApp: Set<String>) {
    (self.history, self.path) = (history, path)
    let versions = history.versions
    let end = versions.firstIndex { $0.name == history.currentName } ?? versions.count - 1
    let first = history.migratedVersions.startIndex
    let below = Set(history.namesBelowFloor)
    rows = history.outsiders.map {
      Row(version: $0, place: "outside the plan", next: nil, current: nil, losses: [])
    }
    let review = LossReview(
      of: Array(history.migratedVersions), acknowledged: history.acknowledgements, mappings: mappings, byApp: byApp,
      takesLongPaths: !mappings.isEmpty)
    renames = review.renameFindings
    open = review.losses.filter { loss in
      !loss.isAcknowledged
        && !review.renames.contains {
          (loss.isOf($0.2) || loss.isOfLinks(to: $0.2)) && loss.source.name == $0.source.name
        }
    }.map(\.name).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    for (position, version) in versions.enumerated() {
      func way(to last: Int) -> Way? {
        guard position >= first, position < last else { return nil }
        return Self.way(
          through: Array(versions[position...last]), mappings,
          isByApp: versions[position..<last].contains { byApp.contains($0.name) })
      }
      let next = way(to: min(position + 1, versions.count - 1))
      rows.append(
        Row(
          version: version,
          place: position == end
            ? "current"
            : position > end
              ? "later" : position >= first ? "" : below.contains(version.name) ? "refused" : "not certain",
          next: next,
          // For the version before the current one, both columns are the same path.
          current: position + 1 == end ? next : way(to: end),
          losses: review.losses.filter { $0.source.name == version.name }))
    }
  }

  private static func way(
    through versions: [CheckedHistory.Version], _ mappings: GivenMappings, isByApp: Bool
  ) -> Way {
    if isByApp {
      // App code migrates this step, but needs to know which decisions its rows may need.
      let path = versions.count == 2 ? try? LossReview.path(through: versions, mappings) : nil
      let decisions = (path?.hops ?? []).flatMap {
        mappings.openEffects(of: $0.mapping, from: $0.source, to: $0.destination)
      }.filter { $0.kind.severity == .blocker }
      return Way(word: "by code", decisions: decisions)
    }
    do throws(MappingInferenceError) {
      // A mapping inferred from end to end can also be inferred through the versions between; the
      // reverse need not hold.
      let ends = versions.first.flatMap { first in versions.last.map { [first, $0] } } ?? []
      let short =
        mappings.isEmpty
        ? Result { () throws(MappingInferenceError) in try LossReview.path(through: ends, mappings) } : nil
      let found: MigrationPath?
      if case .success(let path)? = short {
        found = path
      } else {
        found = try LossReview.path(through: versions, mappings)
      }
      guard let path = found else { return Way(word: "same") }
      let isGiven = path.hops.contains(where: \.isGiven)
      let decisions = path.hops.flatMap { mappings.openEffects(of: $0.mapping, from: $0.source, to: $0.destination) }
        .filter { $0.kind.severity == .blocker }
      let word = isGiven ? "mapping" : "inferred"
      return Way(word: decisions.isEmpty ? word : word + ", decision", decisions: decisions)
    } catch {
      return Way(word: "needs mapping", obstacles: error.obstacles)
    }
  }

  // MARK: - Telling

  func report(_ console: Console) -> CommandReport {
    let style = console.style
    var table = TextTable(
      header: ["Version", "shipped", "to the next", "to the current"], alignments: [.left, .left, .left, .left])
    for row in rows {
      table.add([
        row.version.name, row.version.isShipped ? "yes" : "no", row.next?.word ?? "–",
        row.place.isEmpty ? row.current?.word ?? "–" : row.place,
      ])
    }
    let lines = zip(table.lines(), [[]] + rows.map { details(of: $0, style) }).flatMap { line, details in
      // Wrapping is left to the terminal, which may break lines only outside of commands.
      [line] + details.map { "      " + $0 }
    }
    var advice: [String] = []
    if !open.isEmpty, history.lock == nil {
      advice = ["Acknowledge an intended loss in lock.json. \(history.lockAdvice)."]
    } else if !open.isEmpty {
      let options = open.map { " --acknowledge \(shellWord($0))" }.joined()
      advice = [
        "\(open.count == 1 ? "If the loss is" : "If the losses are") intended: heirloom check \(shellWord(path))\(options)"
      ]
    }
    let shown: [HistoryRule] = [.missingVersion, .belowFloor, .renamingIdentifier, .renameWithoutMigration]
    let findings = history.faults + HistoryRules(history).findings.filter { shown.contains($0.rule) } + renames
    return CommandReport(
      lines: [
        "\(style.bold(path)): \(counted(Int64(rows.count), "version")), the current one is \"\(history.currentName)\"."
      ] + lines + advice + findings.map { $0.line(style) },
      members: [
        ("path", .text(path)), ("current", .text(history.currentName)), ("versions", .list(rows.map(output))),
        ("findings", .list(findings.map(\.output))),
      ])
  }

  private func details(of row: Row, _ style: TextStyle) -> [String] {
    let lost = row.namedLosses.filter { !$0.isAcknowledged }.map(\.name)
    let consented = row.namedLosses.filter(\.isAcknowledged).map(\.name)
    var lines: [String] = []
    if !lost.isEmpty { lines.append("\(style.red("loses")) \(listText(lost, limit: 40))") }
    if !consented.isEmpty { lines.append("loses \(listText(consented, limit: 40)), with consent") }
    for (way, end) in [(row.next, "next"), (row.place.isEmpty ? row.current : nil, "current")] {
      let isSame = end == "current" && way?.decisions == row.next?.decisions && way?.obstacles == row.next?.obstacles
      guard let way, !isSame else { continue }
      let to = end == "next" ? "" : "to the current: "
      lines += way.obstacles.prefix(4).map { to + $0.reason }
      if way.obstacles.count > 4 { lines.append("\(to)and \(way.obstacles.count - 4) more obstacles") }
      let names = way.decisions.map(\.lossName)
      let need = way.word == "by code" ? "need the app's code, or a decision" : "need a decision"
      if !names.isEmpty { lines.append("\(to)rows that don't fit \(need): \(listText(names))") }
    }
    return lines
  }

  private func output(_ row: Row) -> OutputValue {
    func output(_ way: Way?) -> OutputValue {
      guard let way else { return .null }
      return .object([
        ("way", .text(way.word.replacing(", decision", with: ""))),
        ("decisions", .texts(way.decisions.map(\.lossName))),
        ("obstacles", .list(way.obstacles.map(DifferenceText.output))),
      ])
    }
    return .object([
      ("name", .text(row.version.name)), ("checksum", .text(row.version.model.versionChecksum())),
      ("locked", .boolean(row.version.isShipped)), ("isCurrent", .boolean(row.place == "current")),
      ("isRefused", .boolean(row.place == "refused")),
      ("toNext", output(row.next)), ("toCurrent", output(row.current)),
      (
        "losses",
        .list(
          row.namedLosses.map {
            .object([
              ("name", .text($0.name)), ("to", .text($0.destinationName)), ("consented", .boolean($0.isAcknowledged)),
            ])
          })
      ),
    ])
  }
}
