import HeirloomMapping
import HeirloomStore

/// The account of a migration: content of the store that isn't carried unchanged, and content that only code can copy.
///
/// A line's content is carried to the candidate, changed, decided about, given to code, or lost. A loss is anything the
/// candidate lacks, so no kind of loss has to be foreseen. Only changes and losses are counted.
final class Account {
  let crossing: Crossing
  let taken: MappingConditions
  let pendingCells: [PendingCells]
  let pendingLinks: [PendingLinks]
  /// The warnings about counts that are known only after the run.
  private let warnings: [String]
  /// The entries, in three groups that are counted one after another.
  private let entries: [[AskedEntry]]

  /// Makes the account; `selections` has the SQL values of objects made one by one, by the entity mapping's name.
  init(
    _ crossing: Crossing, mapping: MappingModel, taken: MappingConditions, room: SurplusLinks, effects: EffectQuestions,
    transfers: [TableTransfer], joins: [JoinTransfer], bookkeeping: ForeignBookkeeping,
    selections: [String: ValueSelection]
  ) {
    (self.crossing, self.taken) = (crossing, taken)
    let links = LinkLines(crossing, taken: taken)
    let cells = CellLines(
      crossing, mapping: mapping, taken: taken, transfers: transfers, joins: joins, selections: selections)
    (pendingLinks, pendingCells, warnings) = (links.open, cells.open, cells.warnings)
    entries = [
      UnknownColumns(crossing: crossing).entries + effects.entries + room.entries + links.entries
        + OneSidedLinks(crossing: crossing, lines: links).entries,
      cells.entries,
      StrayLinks(crossing, transfers: transfers).entries + bookkeeping.entries,
    ]
  }

  /// Counts changes and losses; `scanned` has the tables whose rows were read for that.
  func findings(from connection: Connection) throws -> (findings: [StoreQuestions.Finding], scanned: Set<String>) {
    var findings: [StoreQuestions.Finding] = []
    var scanned: Set<String> = []
    for part in entries {
      var questions = StoreQuestions()
      for entry in part { questions.ask(entry) }
      // Rows whose entity doesn't belong in their table have no line.
      questions.countStrangers(in: crossing.source)
      findings += try questions.answers(from: connection)
      scanned.formUnion(questions.tables)
    }
    return (findings + warnings.map { .warning($0) }, scanned)
  }
}
