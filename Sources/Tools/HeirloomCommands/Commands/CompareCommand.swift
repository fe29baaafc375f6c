import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput

extension Command {
  static let compare = Command(
    name: "compare", usage: "SOURCE DEST | BUNDLE [--skeleton] [--exclude FOLDER]…",
    summary: "what changed, what it does to rows, verdict",
    details: [
      "SOURCE and DEST are models of any kind; for a store, its own model is used. The exit code is 0 whatever the"
        + " verdict: identical, compatible, lightweight, needsMapping.",
      "For a model bundle alone, the current version is compared with the one before.",
      "If something is removed and something of the same kind is added, it asks whether that is a rename, and reports what the rows of a"
        + " store show: for SOURCE what would be lost, for two stores how many values are equal.",
      "The source that --skeleton prints compiles as it is: a step of the app's history with a line for everything that would be lost,"
        + " and a policy for each entity that seems to have been split or has holes to fill in. The step throws"
        + " until everything is decided.",
    ],
    options: [
      Option(
        name: "--skeleton", summary: "print only the Swift source to paste for what is lost or can't be inferred"),
      .exclude,
    ],
    example: "heirloom compare Journal.sqlite Journal.xcdatamodeld", positionals: ["SOURCE", "DEST"], requiredCount: 1,
    run: CompareCommand.run)
}

enum CompareCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    var paths = try arguments.positionals.map(console.path)
    if paths.count == 1 { paths = try lastStep(of: paths[0], console) }
    let stores = paths.map { path in if case .database = PathKind(path) { path } else { String?.none } }
    let (source, destination) = try console.reading("Reading the models", nil) {
      (try model(at: paths[0], besides: paths[1], console), try model(at: paths[1], besides: paths[0], console))
    }
    let difference = ModelDifference(from: source.model, to: destination.model)
    // Diagnostics are more precise, so their properties are skipped.
    let lost = destination.model.identifiersOfNothing(among: source.model.identifiers).filter { item in
      !difference.diagnostics.contains { $0.entity == item.entity && $0.property == item.property }
    }.map { $0.words(in: "\"\(source.name)\"") }
    for warning in source.warnings + destination.warnings + lost { console.log("note: \(warning)") }
    if arguments.has("--skeleton") {
      let isStore = stores.map { $0 != nil }
      return skeleton(from: source, isStore: isStore[0], to: destination, isStore: isStore[1], console)
    }
    var text = DifferenceText(difference, storeAt: stores[0], laterStoreAt: stores[1])
    text.places = source.places.merging(destination.places) { _, later in later }
    let style = console.style
    return CommandReport(
      lines: ["\(style.bold(source.name)) → \(style.bold(destination.name)): \(text.verdictWords)."]
        + text.lines(style),
      members: text.members)
  }

  private static func lastStep(of path: String, _ console: Console) throws -> [String] {
    if case .database = PathKind(path) { throw UsageError.missingArgument("DEST") }
    let list = try console.versions(at: path)
    guard let current = list.currentVersion, let place = list.versions.firstIndex(of: current), place > 0 else {
      throw CommandFailure(
        exitCode: .usage, code: "usage", coreDataCode: nil,
        message: "DEST is missing: \(path) has no version before \"\(list.currentVersionName ?? "")\" to compare with.",
        suggestion: "Name the model to compare it with as the second path.")
    }
    return [list.versions[place - 1].file.path, current.file.path]
  }

  /// For a store, its own model, if need be one of the versions at the other path.
  private static func model(at path: String, besides other: String, _ console: Console) throws -> NamedModel {
    guard case .database = PathKind(path) else {
      return try NamedModel(at: path, console: console, acceptsDoubts: true)
    }
    if case .database = PathKind(other) { return try NamedModel(at: path, console: console) }
    // Doubts about the other are reported when it is read itself.
    let known = try? console.history(at: other)
    return try NamedModel(at: path, console: console, known: known?.versions ?? { _ in [] })
  }

  private static func skeleton(
    from source: NamedModel, isStore: Bool, to destination: NamedModel, isStore isLaterStore: Bool, _ console: Console
  ) -> CommandReport {
    let difference = ModelDifference(from: source.model, to: destination.model)
    // A store that fits both models isn't migrated.
    let needsMigration = difference.verdict == .lightweight || difference.verdict == .needsMapping
    // A store has a file name, not a version name.
    let (name, laterName) = (isStore ? nil : source.name, isLaterStore ? nil : destination.name)
    let skeleton = needsMigration ? MappingSkeleton(difference.inference, from: name, to: laterName) : nil
    if skeleton != nil, difference.changes.contains(where: { $0.effect == .dropped }) {
      console.log("note: an intended loss is acknowledged by the check of the history, with --acknowledge.")
    }
    let text =
      skeleton?.source ?? "// Nothing to fill in: the mapping can be inferred and loses nothing, or none is needed.\n"
    return CommandReport(
      source: text,
      members: DifferenceText(difference).members + [("skeleton", skeleton.map { .source($0.source) } ?? .null)])
  }
}
