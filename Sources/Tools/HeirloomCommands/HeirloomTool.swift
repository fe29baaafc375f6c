import Foundation
import Heirloom
import HeirloomOutput

package enum HeirloomTool {
  package static let version = HeirloomRelease.version

  /// `arguments` are the words after the tool's own name; returns the exit code.
  package static func run(arguments: [String], console: Console) -> Int32 {
    // Even an invalid command line shows whether errors are wanted as JSON.
    let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
    let console = console.forRun(arguments, writesJSON: wantsJSON)
    let report: CommandReport
    do {
      report = try answer(arguments, console: console)
    } catch {
      let failure = CommandFailure(error)
      report = CommandReport(members: failure.findings, failure: failure)
    }
    console.progress.finish()
    write(report, asJSON: wantsJSON, to: console)
    let code = report.failure?.exitCode ?? .done
    guard let error = console.outputFailure() else { return code.rawValue }
    // The reader that closed a pipe needs no message; the exit code reports it to the shell.
    if error != EPIPE {
      let reason = FileError(.write, "standard output", code: error).reason
      console.log("\(console.errorStyle.red("heirloom:")) Not all of the output could be written: \(reason).")
    }
    return (code == .done ? .outputLost : code).rawValue
  }

  private static func answer(_ arguments: [String], console: Console) throws -> CommandReport {
    if let obstacle = console.obstacle {
      throw CommandFailure(
        exitCode: .failed, code: "processLimits", message: obstacle,
        suggestion: "Nothing was begun. Raise the limit, then try again.")
    }
    let words = arguments.filter { $0 != "--json" }
    guard let name = words.first else {
      // The bare name shows help, but is an error for scripts.
      var report = CommandReport(
        members: HelpText.members(of: Command.all), failure: CommandFailure(UsageError.missingArgument("COMMAND")))
      report.lines = HelpText(console).overview(of: Command.all)
      return report
    }
    switch name {
    case "help", "--help", "-h":
      let topics = words.dropFirst().filter { $0 != "--help" && $0 != "-h" }
      if topics == ["--man"] {
        let page = ManualPage(commands: Command.all, version: version).source()
        return CommandReport(source: page, members: [("page", .source(page))])
      }
      guard let topic = topics.first else {
        return CommandReport(
          lines: HelpText(console).overview(of: Command.all), members: HelpText.members(of: Command.all))
      }
      let command = try command(topic)
      if topics.count > 1 { throw UsageError.unexpectedArgument(topics[1]) }
      return help(on: command, console: console)
    case "--version":
      return CommandReport(lines: ["heirloom \(version)"], members: [("version", .text(version))])
    default:
      let command = try command(name)
      let position = arguments.firstIndex(of: name) ?? 0
      return try run(command, Array(arguments[..<position] + arguments[(position + 1)...]), console: console)
    }
  }

  private static func run(_ command: Command, _ words: [String], console: Console) throws -> CommandReport {
    do {
      let arguments = try Arguments(words, grammar: command.grammar)
      if arguments.has("--help") { return help(on: command, console: console) }
      var console = console
      if arguments.declares("--exclude") { console.excludedSources = arguments.all("--exclude") }
      return try command.run(arguments, console)
    } catch let error as UsageError {
      var failure = CommandFailure(error)
      failure.suggestion = "For example: \(command.example) (heirloom help \(command.name) says more)"
      throw failure
    }
  }

  private static func command(_ name: String) throws(UsageError) -> Command {
    if let command = Command.all.first(where: { $0.name == name }) { return command }
    guard !name.hasPrefix("-") else {
      throw .unknown(.option(of: nil), name, known: (["--version"] + Command.Option.common.map(\.name)).sorted())
    }
    throw .unknown(.command, name, known: ["help"] + Command.all.map(\.name))
  }

  private static func help(on command: Command, console: Console) -> CommandReport {
    CommandReport(lines: HelpText(console).lines(of: command), members: HelpText.members(of: command))
  }

  private static func write(_ report: CommandReport, asJSON: Bool, to console: Console) {
    if asJSON {
      var members = report.members
      if let failure = report.failure { members.append("error", failure.output) }
      let value = OutputValue.object(members)
      console.writeOutput(TerminalText.harmless(report.isLastLine ? value.line : value.json, isJSON: true))
      return
    }
    let keepsStyle = console.style.isColored
    let whole = report.lines.map { TerminalText.line($0, keepsStyle: keepsStyle) }
    let lines = (console.isOutputTerminal ? whole.flatMap(console.fitted) : whole) + report.workflowCommands
    if !lines.isEmpty { console.writeOutput(lines.joined(separator: "\n") + "\n") }
    if !report.source.isEmpty { console.writeOutput(TerminalText.harmless(report.source)) }
    if let failure = report.failure, report.printsFailure {
      for line in failure.lines(console.errorStyle) { console.log(line) }
    }
  }
}
