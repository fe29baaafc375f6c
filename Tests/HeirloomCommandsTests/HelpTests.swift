import Foundation
import HeirloomCommands
import TestSupport
import Testing

struct HelpTests {
  private static let commands = [
    "inspect", "doctor", "verify", "compare", "plan", "rehearse", "migrate", "versions", "restore", "salvage",
    "snapshot", "diagram", "report",
    "demo",
  ]
  private let tool = Tool(directory: Tool.snapshots)

  @Test func `the overview lists what there is, and nothing else`() throws {
    let help = tool("help")
    #expect(help.code == 0)
    #expect(help.error.isEmpty)
    for command in Self.commands { #expect(help.output.contains("\n  \(command) "), "\(command)") }
    for absent in ["check"] {
      #expect(!help.output.contains("\n  \(absent) "))
      #expect(tool(absent).code == 2)
    }
    #expect(tool("--help").output == help.output)
    let json = try tool("help", "--json").json()
    #expect((json["commands"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == Self.commands)
    #expect((json["exitCodes"] as? [[String: Any]])?.count == ExitCode.allCases.count)
  }

  @Test(arguments: commands)
  func `each command has help with an example`(command: String) throws {
    let help = tool(command, "--help")
    #expect(help.code == 0)
    #expect(help.output.contains("Example:\n  heirloom \(command) "))
    #expect(help.output.contains("--json"))
    #expect(tool("help", command).output == help.output)
    #expect(tool(command, "-h").output == help.output)
    #expect(try tool(command, "--help", "--json").json()["name"] as? String == command)
  }

  @Test func `the version is told`() throws {
    #expect(tool("--version").output == "heirloom \(HeirloomTool.version)\n")
    #expect(try tool("--version", "--json").json()["version"] as? String == HeirloomTool.version)
  }

  @Test(arguments: [
    [], ["migrat"], ["inspect"], ["inspect", "a", "b"], ["inspect", "a", "--frobnicate"], ["compare", "a"],
    ["plan", "a"], ["plan", "a", "--to"], ["plan", "a", "--to", "b", "--to", "c"],
    ["plan", "a", "--to", "b", "--sql=1"],
    ["migrate", "--to", "b"], ["migrate", "a", "--to", "b", "--keep", "0"],
    ["migrate", "a", "--to", "b", "--keep", "x"],
    ["migrate", "a", "--to", "b", "--decide", "x"], ["restore"], ["versions"], ["demo", "Garden"],
    ["help", "draw"],
    ["migrate", "a", "--to", "b", "--mapping"], ["compare", "a", "b", "--mapping", "m.cdm"],
  ])
  func `a command line that isn't understood is refused with what to do`(arguments: [String]) throws {
    let text = tool.run(arguments)
    #expect(text.code == 2)
    #expect(text.error.hasPrefix("heirloom: "))
    #expect(arguments.isEmpty || text.output.isEmpty)
    let json = tool.run(arguments + ["--json"])
    #expect(json.code == 2)
    #expect(json.error.isEmpty)
    let failure = try json.failure()
    #expect(Set(failure.keys) == ["code", "coreDataCode", "message", "suggestion", "storeAt"])
    #expect(failure["code"] as? String == "usage")
    #expect((failure["suggestion"] as? String)?.isEmpty == false)
    #expect(failure["coreDataCode"] is NSNull)
  }

  @Test func `colours are for terminals whose owner wants them`() {
    #expect(!tool("help").output.contains("\u{1B}"))
    #expect(Tool(directory: Tool.snapshots, isTerminal: true)("help").output.contains("\u{1B}[1m"))
    let plain = Tool(directory: Tool.snapshots, environment: ["NO_COLOR": "1"], isTerminal: true)
    #expect(!plain("help").output.contains("\u{1B}"))
    let dumb = Tool(directory: Tool.snapshots, environment: ["TERM": "dumb"], isTerminal: true)
    #expect(!dumb("help").output.contains("\u{1B}"))
  }
}
