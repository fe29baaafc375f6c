import HeirloomMapping
import HeirloomStore

/// The account of a migration: what the store holds and doesn't go on as it is, and what only code can take along.
///
/// The acts of the run close a line: what a line is about is carried to the candidate, changed on the way, given to code
/// that may read it, decided about, or lost. So a loss follows from what is missing in the candidate, and nothing has to
/// be foreseen. Only what is changed or lost is counted.
final class Account {
  let crossing: Crossing
  /// The conditions of entity mappings that take only some objects.
  let taken: MappingConditions
  /// The cells that only code can take along.
  let pendingCells: [PendingCells]
  /// The links that only code can take along.
  let pendingLinks: [PendingLinks]
  /// The sentences about what only the run tells.
  private let warnings: [String]
  /// The entries of links, of objects and cells, and of what no model accounts for.
  private let entries: [[AskedEntry]]

  /// Makes the account.
  ///
  /// - Parameters:
  ///   - crossing: The source and the destination.
  ///   - mapping: The mapping model.
  ///   - taken: The conditions of entity mappings that take only some objects.
  ///   - room: The links that have no room in the destination's relationships.
  ///   - effects: The links, and their orders, that the mapping has no room for.
  ///   - parts: The candidate's parts.
  ///   - selections: The values that SQL gives to objects that are made one by one, by the name of the entity mapping.
  init(
    _ crossing: Crossing, mapping: MappingModel, taken: MappingConditions, room: SurplusLinks, effects: EffectQuestions,
    parts: CandidateParts, selections: [String: ValueSelection]
  ) {
    (self.crossing, self.taken) = (crossing, taken)
    let links = LinkLines(crossing, taken: taken)
    let cells = CellLines(
      crossing, mapping: mapping, taken: taken, transfers: parts.transfers, joins: parts.joins,
      selections: selections)
    (pendingLinks, pendingCells, warnings) = (links.open, cells.open, cells.warnings)
    entries = [
      UnknownColumns(crossing: crossing).entries + effects.entries + room.entries + links.entries
        + OneSidedLinks(crossing: crossing, lines: links).entries,
      cells.entries,
      StrayLinks(crossing, transfers: parts.transfers).entries + parts.metadata.foreign.entries,
    ]
  }

  /// Counts what is changed or lost.
  ///
  /// - Parameter connection: The store.
  /// - Returns: The findings, and the tables whose rows were scanned for them.
  /// - Throws: SQLite's error, or a function's.
  func findings(from connection: Connection) throws -> (findings: [StoreQuestions.Finding], scanned: Set<String>) {
    var findings: [StoreQuestions.Finding] = []
    var scanned: Set<String> = []
    for part in entries {
      var questions = StoreQuestions()
      for entry in part { questions.ask(entry) }
      // Rows of another entity are on no line.
      questions.countStrangers(in: crossing.source)
      findings += try questions.answers(from: connection)
      scanned.formUnion(questions.tables)
    }
    return (findings + warnings.map { .warning($0) }, scanned)
  }
}
