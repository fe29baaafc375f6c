/// The sentences with a command, or with an option as a remedy, that the sources have.
enum AdviceList {
  /// The proof that a sentence is no dead end.
  enum Proof {
    /// A situation of `AdviceTests`, which follows the sentence word for word.
    case situation(String)
    /// Another test that follows it.
    case test(String)
    /// The reason why nothing is advised.
    case noAdvice(String)
  }

  /// A sentence of a file: any that has the text.
  struct Entry {
    let file: String
    let text: String
    let proof: Proof

    init(_ file: String, _ text: String, _ proof: Proof) { (self.file, self.text, self.proof) = (file, text, proof) }

    func matches(_ literal: AdviceListTests.Literal) -> Bool {
      literal.file.hasSuffix("/" + file) && literal.text.contains(text)
    }
  }

  static let entries = checking + failing + models + stores + others
}

extension AdviceList {
  private static let checking = [
    Entry(
      "LossReview.swift", "back, or: heirloom check",
      .test("an acknowledgement without a kind says so where a model is missing, and both remedies work")),
    Entry(
      "FixtureCheck.swift", "heirloom compare", .situation("what an earlier release made is compared with the history")),
    Entry(
      "CheckedHistory+Lock.swift", "holds for this run alone", .situation("a step is left to code where no lock is")),
    Entry(
      "CheckedHistory.swift", "heirloom snapshot \\(shellWord(model)) --history",
      .test("the command that a finding names mends it, word for word")),
    Entry("CheckedHistory.swift", " --before ", .test("the command that a finding names mends it, word for word")),
    Entry("HistoryRules.swift", "writes it again", .test("the command that a finding names mends it, word for word")),
    Entry(
      "HistoryTable.swift", " --acknowledge ",
      .test("the printed commands are whole, name all losses, and work word for word")),
    Entry(
      "HistoryTable.swift", "intended: heirloom check",
      .test("the printed commands are whole, name all losses, and work word for word")),
    Entry(
      "LossReview.swift", "if losing it is intended, heirloom check", .situation("a loss of a history is acknowledged")),
    Entry(
      "MigrationTrial.swift", "--by-app \\(versionOfStep { $1.has(effect)",
      .test("every object stops: an error, and the printed command decides it for app and tool")),
    Entry(
      "MigrationTrial.swift", "decides it for app and tool",
      .test("every object stops: an error, and the printed command decides it for app and tool")),
    Entry(
      "MigrationTrial.swift", "Give the mapping model with --mapping",
      .test("what can't be inferred is an error, with a mapping model it passes, by the app's code it is a warning")),
    Entry(
      "MigrationTrial.swift", "If the app decides what becomes of such rows",
      .situation("sample rows that don't fit are left to code")),
    Entry(
      "MigrationTrial.swift", "The app's own tests can",
      .test("what can't be inferred is an error, with a mapping model it passes, by the app's code it is a warning")),
    Entry("LossReview.swift", "--unacknowledge", .situation("an acknowledgement of nothing is taken out")),
    Entry(
      "LossReview.swift", " --unacknowledge ",
      .test("an acknowledgement without a kind says so where a model is missing, and both remedies work")),
    Entry("WorkflowAnnotation.swift", "heirloom check: ", .noAdvice("a title")),
  ]

  private static let failing = [
    Entry("CommandFailure.swift", "shows the model.", .situation("a model is no store")),
    Entry("CommandFailure.swift", "Here, --model gives it", .situation("the model of a store is given")),
    Entry(
      "CommandFailure.swift", "says more.", .test("a flipped bit in a stored hash leads to a store that the model fits")
    ),
    Entry("CommandFailure.swift", "Here, --with gives", .situation("the other models of a merged one are given")),
    Entry("CommandFailure.swift", "migrates without it", .situation("a merged store goes on without a part")),
    Entry("CommandFailure.swift", "Here, --accept-version accepts it", .situation("an unknown version is accepted")),
    Entry(
      "CommandFailure.swift", "--version \\(version.id) brings it back",
      .situation("a newer store's earlier version is restored")),
    Entry("CommandFailure.swift", "To go back to this model all the same", .situation("a newer store goes back")),
    Entry(
      "CommandFailure.swift", "--to names the models",
      .situation("a store below the floor is migrated by the models of an earlier release")),
    Entry("CommandFailure.swift", "Here, --decide decides", .situation("rows are decided about")),
    Entry("CommandFailure.swift", "--mapping gives a mapping", .situation("losses are accepted")),
    Entry("CommandFailure.swift", "If losing it is intended: --accept-losses", .situation("losses are accepted")),
    Entry(
      "CommandFailure.swift", "salvage it first",
      .test("what only the log holds is told, stops a run, and is read by the command that is named")),
    Entry(
      "CommandFailure.swift", "Without that code it is lost",
      .situation("a step by code is run without its code")),
    Entry("HelpText.swift", "heirloom help COMMAND", .noAdvice("help")),
    Entry("HelpText.swift", "--json gives", .noAdvice("help")),
    Entry("ManualPage.swift", "heirloom help COMMAND", .noAdvice("help")),
    Entry("ManualPage.swift", "--json gives", .noAdvice("help")),
    Entry("UsageError.swift", "heirloom help lists", .situation("a command line that isn't understood")),
    Entry("HeirloomTool.swift", "For example:", .situation("a command line that isn't understood")),
  ]

  private static let models = [
    Entry("MigrationRequest+Advice.swift", "--skeleton", .situation("a mapping that can't be inferred is begun")),
    Entry("MigrationRequest+Advice.swift", "--skeleton", .situation("a mapping keeps what would be lost")),
    Entry("MigrationRequest+Advice.swift", "heirloom check", .situation("losses are acknowledged for all stores")),
    Entry(
      "MigrationRequest+Advice.swift", "heirloom check", .situation("what a newer store loses is not acknowledged")),
    Entry("MigrationRequest+Advice.swift", " --acknowledge ", .situation("losses are acknowledged for all stores")),
    Entry("SnapshotHistory.swift", "heirloom snapshot", .situation("a version that stands late is moved")),
    Entry(
      "SnapshotHistory.swift", "heirloom snapshot", .situation("a version that was shipped earlier is put in its place")
    ),
    Entry(
      "CompareCommand.swift", "by the check of the history, with --acknowledge",
      .situation("a loss of a history is acknowledged")),
    Entry("FreezeCommand.swift", "--root names the schema", .situation("another schema is frozen")),
    Entry("FreezeCommand.swift", "could leave out", .noAdvice("names the option that was given")),
    Entry("FreezeCommand.swift", "--name gives another name", .situation("another schema is frozen")),
    Entry("FreezeCommand.swift", "Name another file with --output", .situation("another file is named")),
    Entry(
      "FreezeCommand.swift", "--name freezes the schema", .situation("an edited schema is frozen under another name")),
    Entry("GenerateCommand.swift", "says more", .situation("an edit of a shipped version is shown")),
    Entry("SnapshotCommand.swift", "--output or --history", .noAdvice("names the options that were given")),
    Entry("SquashCommand.swift", "makes one.", .situation("a floor needs a lock")),
    Entry("SquashCommand.swift", "tries it.", .situation("a floor needs a lock")),
    Entry("NewVersion.swift", "leave --name out", .situation("a name is left out")),
    Entry("NewVersion.swift", "Edit it, then:", .situation("a new version names its history")),
    Entry("NewVersion.swift", "makes one.", .situation("a new version names its history")),
    Entry("SnapshotExport.swift", "Name another file with --output", .situation("another file is named")),
    Entry("OutputFile.swift", "Name another file with --output", .situation("another file is named")),
    Entry("SnapshotHistory.swift", "Name a folder of its own", .situation("histories have folders of their own")),
    Entry("SnapshotHistory.swift", "names the change", .situation("an edit of a shipped version is shown")),
    Entry("SnapshotHistory.swift", "names all that was not read", .situation("a fault of a model is shown")),
    Entry("SnapshotHistory.swift", "Without --before", .situation("a place is kept without the option")),
    Entry("TypedSource.swift", "Made by", .noAdvice("the mark of a file")),
    Entry("FrozenSchema.swift", "Frozen by", .noAdvice("the mark of a file")),
    Entry("SwiftInspection.swift", "could leave out", .noAdvice("names the option that was given")),
    Entry("SwiftInspection.swift", "by --root", .situation("the classes of an app are named")),
    Entry("SwiftVersions.swift", "could leave out", .noAdvice("names the option that was given")),
    Entry(
      "HashInspection.swift", "--model names further models", .test("a model that is merged of two is found in both")),
    Entry("HashInspection.swift", "--json lists all", .noAdvice("the same command, with the option that help names")),
    Entry(
      "SwiftVersions.swift", "Correct the file, or leave it out", .situation("a Swift file with a fault is left out")),
    Entry("SwiftVersions.swift", "Leave one of the files out", .situation("a Swift file with a twin is left out")),
    Entry("SwiftVersions.swift", "Name the intended one", .test("what the advice names is taken")),
    Entry(
      "SwiftVersions.swift", "Write the plan's lists as literals", .situation("a plan that can't be read is inspected")),
    Entry("SwiftVersions.swift", "lists all doubts", .situation("a schema in doubt is inspected")),
  ]

  private static let stores = [
    Entry(
      "StoreDiagnosis+Next.swift", "the command migrate undoes",
      .situation("an interrupted change is undone with the model that is given")),
    Entry(
      "Migrated.swift", "names the command that reads them",
      .test("a store that has the model is told of a log that can't be read")),
    Entry("FileStart.swift", "heirloom doctor", .test("each command that is given a log names its store")),
    Entry("FileStart.swift", "heirloom inspect", .test("every command says the same of a file that is no database")),
    Entry(
      "CommandFailure.swift", "none can be read whole",
      .test("the command that the list of versions names is one that works")
    ),
    Entry(
      "RepairCommand.swift", "says what to run next",
      .test("a repair that corrects nothing says what is wrong, and what to run")),
    Entry(
      "RestoreCommand.swift", "names the command that reads the rest",
      .test("a restored version says where the damaged file is, and what reads it")),
    Entry(
      "VersionsCommand.swift", "names the command that reads the rest",
      .test("the command that the list of versions names is one that works")),
    Entry("StorePlace.swift", "heirloom salvage", .situation("a damaged store is salvaged")),
    Entry("StorePlace.swift", " --model ", .test("where no kept version is sound, what can be read is salvaged")),
    Entry("StorePlace.swift", " --output ", .situation("a damaged store is salvaged")),
    Entry(
      "SetAsideText.swift", "give it the name with --set-aside",
      .situation("a store that was moved aside returns from the list")),
    Entry(
      "StoreDiagnosis+Next.swift", "give the model that has the rest",
      .situation("the rest of a merged store's models is given")),
    Entry("StoreDiagnosis+Next.swift", " --with ", .situation("what waits in a merged store is cleaned up")),
    Entry(
      "StoreDiagnosis+Next.swift", "give the model that made the store",
      .situation("the model that made a store is given")),
    Entry(
      "StoreDiagnosis+Next.swift", "if another model made the store",
      .test("a flipped bit in a stored hash leads to a store that the model fits")),
    Entry(
      "StoreDiagnosis+Next.swift", "Salvage needs the app's model",
      .situation("a damaged store without a model is salvaged")),
    Entry("StoreMigration.swift", "shows details", .situation("a version is restored with its faults")),
    Entry("Remedy+Command.swift", "The command plan", .situation("every remedy is carried out")),
    Entry("Remedy+Command.swift", "The command migrate", .situation("every remedy is carried out")),
    Entry("Remedy+Command.swift", "The command salvage", .situation("a damaged store without a model is salvaged")),
    Entry("Remedy+Command.swift", "heirloom doctor", .situation("every remedy is carried out")),
    Entry(
      "RepairCommand.swift", "brings it back",
      .test("what a repair keeps comes back by the command that it prints")),
    Entry(
      "RepairCommand.swift", "says what to run next",
      .situation("a damaged record is repaired, and the diagnosis goes on")),
    Entry(
      "RestoreCommand.swift", "The store that was there is kept", .situation("what was restored can be taken back")),
    Entry("RestoreCommand.swift", "no --set-aside beside it", .noAdvice("names the options that were given")),
    Entry("SalvageCommand.swift", "--include-uncertain reads them", .situation("uncertain pages are read")),
    Entry("VersionsCommand.swift", "back; the start of a name", .situation("a kept version is restored from the list")),
    Entry(
      "StoreDiagnosis+Next.swift", "heirloom migrate \\(word) --to \\(model)",
      .test("a change that was interrupted is undone by the command that is advised")),
    Entry(
      "StoreDiagnosis+Next.swift", "heirloom inspect", .situation("a version that no model given has made is inspected")
    ),
    Entry("StoreDiagnosis+Next.swift", "heirloom inspect", .situation("a store that is well is inspected")),
    Entry(
      "StorePlace.swift", "heirloom repair",
      .situation("a damaged record is repaired, and the diagnosis goes on")),
    Entry("StoreDiagnosis+Next.swift", "heirloom verify", .situation("findings are verified")),
    Entry(
      "StoreDiagnosis+Next.swift", "heirloom versions", .situation("what is kept of a store that is well is listed")),
    Entry("StoreDiagnosis+Next.swift", "heirloom restore", .situation("a damaged store's kept version is restored")),
    Entry(
      "StoreDiagnosis+Next.swift", "heirloom migrate \\(word) --to",
      .situation("an unfinished operation is settled")),
    Entry(
      "StoreDiagnosis+Next.swift", "heirloom migrate \\(word) --to",
      .situation("clean-up that was put off is the next step")),
    Entry("StoreDiagnosis.swift", "more: heirloom verify", .situation("many findings are verified")),
    Entry("StoreInspectionText.swift", "give it with --model", .situation("the model that made a store is given")),
    Entry("Migrated.swift", "without --defer", .situation("clean-up that was put off is done")),
    Entry("Migrated.swift", "brings it back", .situation("a migration names what brings the store back")),
    Entry("CommandFailure.swift", "brings back the newest", .situation("a store that is gone comes back")),
    Entry(
      "StoreMigration.swift", "names the command that reads them",
      .test("what was not undone is told, and read by the command that is named")),
    Entry("PreviousVersion+Pin.swift", "unpins it", .situation("a pinned version is let go")),
    Entry("StoreListError.swift", "with --null", .noAdvice("says what the option that was given does")),
    Entry("StoreListError.swift", "heirloom help migrate", .situation("a list of stores is explained")),
    Entry("VersionChoice.swift", "with --model", .test("inspect, compare, plan and migrate have one answer")),
    Entry(
      "StoreVerification+Metadata.swift", "give the right model with --model",
      .situation("the model that made a store is given")),
    Entry(
      "StoreVerification+Metadata.swift", "give it with --model", .situation("the model that made a store is given")),
    Entry(
      "StoreVerification+Metadata.swift", "the model is given with --model",
      .situation("the model that made a store is given")),
    Entry("DecisionText.swift", "--decide", .situation("rows are decided about")),
    Entry(
      "Remedy+Command.swift", "heirloom inspect", .situation("a damaged record is repaired, and the diagnosis goes on")),
    Entry("Remedy+Command.swift", "heirloom verify", .situation("what a finding advises is run")),
    Entry("Remedy+Command.swift", "heirloom migrate", .situation("clean-up that was put off is done")),
    Entry("Remedy+Command.swift", "heirloom versions", .situation("what a finding advises is run")),
  ]

  private static let others = [
    Entry("DemoCommand.swift", "try heirloom inspect", .situation("a demo's store is inspected")),
    Entry("DemoCommand.swift", "--keep-files leaves it", .situation("a demo's store is inspected")),
    Entry("DemoCommand.swift", "--snapshots", .situation("a demo's folder is named")),
    Entry("DemoCommand.swift", "run with --keep-files", .noAdvice("a defect can't be made by a test")),
    Entry("CompletionScript+Bash.swift", "--help --json", .noAdvice("a script")),
    Entry("CompletionScript+Zsh.swift", "--help", .noAdvice("a script")),
    Entry("DifferenceText.swift", "heirloom plan counts them", .situation("rows are decided about")),
    Entry("LaunchTime.swift", "--defer", .situation("clean-up that was put off is done")),
    Entry("DOTDiagram.swift", "heirloom diagram", .noAdvice("the mark of a file")),
    Entry("MermaidDiagram.swift", "heirloom diagram", .noAdvice("the mark of a file")),
    Entry("SVGDiagram.swift", "heirloom diagram", .noAdvice("the mark of a file")),
    Entry("MigrationPage.swift", "heirloom report", .noAdvice("the mark of a file")),
    Entry("MigrationPage+Sections.swift", "What heirloom doctor finds", .noAdvice("a headline")),
    Entry("MigrationPage+Sections.swift", "heirloom report --rehearse", .situation("a report rehearses the migration")),
    Entry("AircraftRun.swift", "heirloom plan reports it", .noAdvice("a tale")),
  ]
}
