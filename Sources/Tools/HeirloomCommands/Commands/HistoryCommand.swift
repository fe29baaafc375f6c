import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension Command {
  static let history = Command(
    name: "history",
    summary: "the versions of a model: shipped or not, how each reaches the current one",
    details: [
      "MODEL is an .xcdatamodeld, a folder that holds one with its lock and snapshots, or Swift source. The table has a line for each version:"
        + " whether the lock fixes it as shipped, and how its stores reach the next version and the current one: inferred, by a mapping"
        + " that is given, by the app's code (the lock or --by-app says so), or same if there is nothing to do; stores of versions before the lock's floor are refused. Below it are the"
        + " losses, with or without consent in the lock; the decisions about rows that don't fit; the reasons why nothing can be inferred; and possible renames.",
      "It is derived from the models alone; no store is made. heirloom check tries it with stores.",
    ],
    options: [
      .mapping, .exclude,
      Option(
        name: "--by-app", value: "VERSION", isRepeatable: true,
        summary: "the app's own code, such as a stage, migrates the step from this version to the next"),
    ],
    example: "heirloom history Journal.xcdatamodeld", positionals: ["MODEL"], requiredCount: 1
  ) { arguments, console in
    let path = try console.path(arguments.positionals[0])
    let history = try CheckedHistory(at: path, console: console)
    let byApp = try history.versionsByCode(arguments.all("--by-app"))
    guard let known = history.history else {
      throw ModelReadingError(path: path, problem: .malformed(reason: history.faults.first?.message ?? "no version"))
    }
    let mappings = try GivenMappings(arguments.all("--mapping").map(console.path), history: known, console: console)
    return HistoryTable(of: history, path: path, mappings: mappings, byApp: byApp).report(console)
  }
}
