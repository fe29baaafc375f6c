import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension Command {
  static let newVersion = Command(
    name: "new-version",
    summary: "the next version of a model, as a copy of the current one",
    details: [
      "MODEL is an .xcdatamodeld, or a folder that holds one with its lock and snapshots. The current version is copied byte for byte,"
        + " and the copy is the current one, to be edited; the bundle's own numbering continues unless --name gives another name. If"
        + " there is nothing at MODEL, a bundle is made with one version, an example to edit; in a Swift package the line for Package.swift is printed as well.",
      "If a lock or snapshots are beside the bundle, the version that was current until now is fixed as shipped, as heirloom"
        + " snapshot --history does it; the new one is not, until it ships. A version that was edited after it was fixed is refused. It asks"
        + " about what seems to be a rename in the version that was current until now.",
      "While the current version is neither shipped nor different from the one before, nothing is made. An interrupted run leaves"
        + " the old current version or the new one; another run continues.",
    ],
    options: [Option(name: "--name", value: "NAME", summary: "the new version's name")],
    example: "heirloom new-version Journal.xcdatamodeld", positionals: ["MODEL"], requiredCount: 1,
    run: NewVersionCommand.run)
}

enum NewVersionCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let name = arguments.value("--name")
    var findings: [HistoryFinding] = []
    var report: CommandReport
    if case .missing = PathKind(path) {
      report = try NewVersion.makeBundle(at: path, named: name)
    } else {
      let version = try NewVersion(at: path, console: console)
      report = try version.make(named: name)
      // The version that was current until now is finished, so a missing rename would be declared
      // there. Problems of the version before it are left to check.
      if case .text = report.members["made"] {
        findings = (try? LossReview(ofLastStepIn: version.list))?.renameFindings ?? []
      }
    }
    report.lines += findings.map { $0.line(console.style) }
    report.members.append("findings", .list(findings.map(\.output)))
    return report
  }
}
