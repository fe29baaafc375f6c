import HeirloomModel
import HeirloomStore

extension CandidateParts {
  /// The tables of a copy, by their names there, whose rows no statement of the plan writes.
  ///
  /// Decisions or code may write the others, or SQLite when it drops a column.
  var unwrittenTables: [String: CarriedTable] {
    guard isByStatementsAlone else { return [:] }
    let derived = backfill.steps.compactMap { step in
      step.subject.names(separatedBy: ".", omittingEmptySubsequences: true).first.flatMap {
        destination.table(ofEntity: String($0))?.name
      }
    }
    let written = Set(orders.map(\.subject) + derived)
    let kept = carried.filter { table in
      table.updates.isEmpty && table.dropped == nil && !written.contains(table.table.name)
    }
    return Dictionary(kept.map { ($0.table.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Tables of a copy whose rows keep their keys and are written by the plan's statements alone.
  var writtenTables: [String: CarriedTable] {
    guard isByStatementsAlone else { return [:] }
    let unwritten = unwrittenTables
    let key = "s.\(quote(PhysicalName.primaryKey))"
    let sameKeys = Set(transfers.filter { $0.destinationNumbers == nil && $0.key == key }.map(\.table))
    let written = carried.filter { sameKeys.contains($0.table.name) && unwritten[$0.table.name] == nil }
    return Dictionary(written.map { ($0.table.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private var isByStatementsAlone: Bool {
    rowRun.isEmpty && rowDecisions.findSteps.isEmpty && rowDecisions.decisionSteps.isEmpty
  }

  var staying: [String: StayingObject] {
    let unwritten = unwrittenTables
    var objects: [String: StayingObject] = [:]
    for table in carried {
      objects[table.table.name] = StayingObject(
        sourceName: table.sourceTable, isUnwritten: unwritten[table.table.name] != nil)
    }
    for copy in foreignRows where objects[copy.subject] == nil {
      objects[copy.subject] = StayingObject(
        sourceName: copy.subject, isUnwritten: isByStatementsAlone && framework.rewrites[copy.subject] == nil)
    }
    let indexes = CarriedIndexes(on: carried, in: crossing)
    for (name, index) in indexes.kept {
      objects[index.name] = StayingObject(sourceName: name, isUnwritten: unwritten[index.table] != nil)
    }
    return objects
  }
}
