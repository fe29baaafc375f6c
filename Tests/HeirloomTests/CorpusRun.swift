import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// A store of the corpus, migrated once by each of the two builders, and all that such a migration promises.
struct CorpusRun {
  struct Copy {
    let assistant: MigrationAssistant
    let report: MigrationReport
    let file: FileContents
    /// The descriptions of the plan and the outcome, and those of the events.
    let texts: (long: [String], events: [String])
    var url: URL { assistant.storeURL }
  }

  let store: String
  let history: ModelHistory
  /// The plan before the migration, without decisions.
  let plan: MigrationPlan
  let before: StoreContents
  let after: StoreContents
  /// The first is made by the builder that the planner chose.
  let copies: [Copy]
  /// An assistant for a copy that is not changed.
  let original: MigrationAssistant
  private let directory: TemporaryDirectory

  var name: Comment { "\(store) to \(history.currentName)" }

  /// What the given decisions leave open is decided too.
  init(of store: String, to history: ModelHistory, decisions: [DataDecision] = []) throws {
    self.store = store
    self.history = history
    let directory = try TemporaryDirectory()
    self.directory = directory
    func assistant(
      _ url: URL, _ decisions: [DataDecision] = [], _ builder: BuilderChoice = .automatic
    ) -> MigrationAssistant {
      var configuration = MigrationAssistant.Configuration.withBothProofs
      configuration.decisions = decisions
      return MigrationAssistant(url, history, configuration, builder: builder)
    }
    let original = assistant(try Corpus.copyStore(store, to: directory))
    let plan = try #require(try original.plan(), "\(store)")
    before = try StoreContents(of: original.storeURL, model: plan.source)
    var decided: [DataDecision] = []
    if !plan.blockers.isEmpty {
      decided = try DecisionCorpusTests.decisions(decisions) { decisions in
        try #require(try assistant(original.storeURL, decisions).plan())
      }
    }
    let other: MigrationPlan.Builder = plan.builder == .rebuild ? .cloneAndAlter : .rebuild
    let copies = try [BuilderChoice.automatic, .always(other)].map { builder in
      let url = try Corpus.copyStore(store, to: directory, in: builder == .automatic ? "first" : "second")
      let migrating = assistant(url, decided, builder)
      let recorder = ClosureDelegate()
      migrating.delegate = recorder
      let outcome = try migrating.migrateStore()
      let report = try #require(outcome.report)
      return Copy(
        assistant: migrating, report: report, file: try FileContents(of: url),
        texts: (["\(report.plan)", "\(outcome)"], recorder.events.map { "\($0)" }))
    }
    #expect(copies.map(\.report.plan.builder) == [plan.builder, other], "\(store)")
    after = try StoreContents(of: copies[0].url, model: history.current)
    (self.original, self.plan, self.copies) = (original, plan, copies)
  }

  func copy(by builder: MigrationPlan.Builder) throws -> Copy {
    try #require(copies.first { $0.report.plan.builder == builder })
  }

  func check() throws {
    try checkContents()
    for copy in copies {
      try checkPreviousVersion(of: copy)
      try checkVerification(of: copy)
      checkTexts(of: copy)
      try checkSecondRun(of: copy)
    }
    try checkObjects()
  }

  /// Objects, values and links are as the mapping says, tables of others as they were, and both copies equal.
  private func checkContents() throws {
    let plan = copies[0].report.plan
    // The consequences of decisions are the subject of other tests.
    if plan.decisions.isEmpty { #expect(before.findings(in: after, after: plan).map(\.message) == [], name) }
    let rows = plan.rows.reduce(into: (before: Int64(0), after: Int64(0))) { sums, rows in
      sums.before += rows.after == nil ? 0 : rows.before ?? 0
      sums.after += rows.after ?? 0
    }
    #expect(rows.before == rows.after + plan.decisions.reduce(0) { $0 + $1.removed }, name)
    #expect(plan.losses == self.plan.losses || !plan.decisions.isEmpty, name)

    let (source, result) = (original.storeURL, copies[0].url)
    let others = try OtherTables(of: source, model: plan.source).migrated(
      by: plan.mapping, from: OtherTables.entityNumbers(in: source), to: OtherTables.entityNumbers(in: result))
    #expect(try OtherTables(of: result, model: history.current).differences(from: others) == [], name)

    #expect(copies[0].file.differences(from: copies[1].file) == [], name)
    #expect(copies.allSatisfy { $0.file.header.last == "text(\"ok\")" }, name)
  }

  private func checkPreviousVersion(of copy: Copy) throws {
    let (previous, source) = (copy.report.previousVersion.storeURL, original.storeURL)
    #expect(try StoreContents(of: previous, model: plan.source) == before, name)
    var contents = [try FileContents(of: previous), try FileContents(of: source)]
    // A log is written back into the file before the file is kept, and then there is no log.
    for index in contents.indices { contents[index].header.removeAll { $0.hasPrefix("journal_mode ") } }
    let differences = contents[0].differences(from: contents[1])
    #expect(differences == [], name)
    if !FileManager.default.fileExists(atPath: source.path + "-wal") {
      #expect(try Data(contentsOf: previous) == Data(contentsOf: source), name)
    }
    let known = try copy.assistant.archive.previousVersions()
    #expect(try StoreArchive(storeURL: copy.url).previousVersions() == known, name)
  }

  private func checkVerification(of copy: Copy) throws {
    func errors(_ report: StoreReport) -> Set<String> {
      Set(report.findings.filter { $0.severity == .error }.map(\.code))
    }
    let report = try copy.assistant.archive.verifyStore()
    // Files of external data are not in the corpus, so that some stores lack values from the beginning.
    let faults = errors(try original.archive.verifyStore()).intersection(["missingExternalFile"])
    #expect(report.isModelFit && errors(report).isSubset(of: faults), name)
  }

  /// The text that `print` shows is one or a few lines, never a whole model.
  private func checkTexts(of copy: Copy) {
    for text in copy.texts.long + ["\(plan)"] { checkText(text) }
    #expect(copy.texts.long.last?.hasPrefix("Migrated ") == true, name)
    #expect(!copy.texts.events.isEmpty, name)
    for text in copy.texts.events { checkText(text, lines: 1) }
  }

  private func checkText(_ text: String, lines: Int = 12) {
    #expect(!text.isEmpty && text.utf8.count < 2000, "\(text.prefix(400))")
    #expect(text.split(separator: "\n").count <= lines, "\(text.prefix(400))")
  }

  private func checkSecondRun(of copy: Copy) throws {
    let bytes = try Data(contentsOf: copy.url)
    guard case .upToDate = try copy.assistant.migrateStore() else {
      Issue.record("\(name): expected nothing to do")
      return
    }
    #expect(try Data(contentsOf: copy.url) == bytes, name)
  }

  private func checkObjects() throws {
    let store = try PersistentStore.open(at: copies[0].url, model: history.current, isReadOnly: true)
    defer { try? store.close() }
    let context = ManagedObjectContext(store: store)
    for entity in history.current.entities where !entity.isAbstract {
      for object in try context.fetch(ObjectFetchRequest(entity.name)).prefix(2) {
        checkText("\(object)", lines: 1)
        #expect("\(object)".hasPrefix(object.entityName), name)
      }
    }
  }
}
