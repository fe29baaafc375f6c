import HeirloomMapping
import HeirloomStore

/// Content of a store that isn't carried unchanged, and content that only code can copy.
///
/// Content is carried to the candidate, changed, decided about, given to code, or lost. A loss is
/// anything the candidate lacks, so no kind of loss has to be foreseen.
final class Account {
  let crossing: Crossing
  let taken: MappingConditions
  let pendingCells: [PendingCells]
  let pendingLinks: [PendingLinks]
  private let warnings: [String]
  private let entries: [[AskedEntry]]

  /// `selections` has the values of objects made one by one, by the entity mapping's name.
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

  /// `scanned` has the tables whose rows were read.
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
