import Foundation
import HeirloomCommands
import TestSupport
import Testing

struct HelpTests {
  private static var declared: [[String: Any]] {
    let json = try? Tool(directory: Tool.snapshots)("help", "--json").json()
    return json?["commands"] as? [[String: Any]] ?? []
  }
  private static let commands = declared.compactMap { $0["name"] as? String }
  private let tool = Tool(directory: Tool.snapshots)

  private static func options(of command: String) -> [[String: Any]] {
    declared.first { $0["name"] as? String == command }?["options"] as? [[String: Any]] ?? []
  }

  @Test func `the overview lists what there is on one screen`() throws {
    let help = tool("help")
    #expect(help.code == 0)
    #expect(help.error.isEmpty)
    #expect(Self.commands.count >= 13)
    for command in Self.commands { #expect(help.output.contains("\n  \(command) "), "\(command)") }
    for line in help.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    #expect(help.output.split(separator: "\n").count <= 40)
    #expect(tool("--help").output == help.output)
    #expect(tool("help", "--help").output == help.output)
    let json = try tool("help", "--json").json()
    #expect((json["exitCodes"] as? [[String: Any]])?.count == ExitCode.allCases.count)
    for code in ExitCode.allCases { #expect(help.output.contains("\(code.rawValue) ")) }
  }

  @Test func `the manual page has each command, with its options and its example`() throws {
    let page = tool("help", "--man").output
    func roff(_ text: String) -> String {
      text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        .replacingOccurrences(of: "\"", with: "\\(dq").replacingOccurrences(of: "'", with: "\\(aq")
    }
    let lines = page.split(separator: "\n").map(String.init)
    let macros: Set<String> = [".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi"]
    for line in lines where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(macros.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
    for command in Self.declared {
      let name = try #require(command["name"] as? String)
      #expect(lines.contains { $0.hasPrefix(".SS \"heirloom \(roff(name)) ") }, "\(name)")
      #expect(lines.contains(roff(try #require(command["example"] as? String))), "\(name)")
      for option in Self.options(of: name) {
        guard let title = option["name"] as? String, title != "--json", title != "--help" else { continue }
        let value = (option["value"] as? String).map { " " + $0 } ?? ""
        #expect(lines.contains(".B \"" + roff(title + value) + "\""), "\(name) \(title)")
      }
    }
    for code in ExitCode.allCases { #expect(lines.contains(".B \(code.rawValue)")) }
    #expect(try tool("help", "--man", "--json").json()["page"] as? String == page)
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
    let narrow = Tool(directory: Tool.snapshots, columns: 40)(command, "--help").output
    let example = narrow.components(separatedBy: "Example:")
    #expect(example.count == 2)
    // Words longer than the terminal, such as a file's name, can't be broken.
    for line in example[0].split(separator: "\n") {
      #expect(line.count <= 40 || !line.drop { $0 == " " }.contains(" "), "\(line)")
    }
  }

  @Test(arguments: commands)
  func `usage, options and what is understood are the same`(command: String) throws {
    let declared = try #require(Self.declared.first { $0["name"] as? String == command })
    let usage = try #require(declared["usage"] as? String)
    let options = Self.options(of: command)
    let names = options.compactMap { $0["name"] as? String }
    #expect(Set(names).count == names.count)
    let inUsage = usage.matches(of: /--[a-z-]+/).map { String($0.output) }
    #expect(Set(inUsage) == Set(names).subtracting(["--json", "--help"]))
    for option in options {
      let name = try #require(option["name"] as? String)
      if let value = option["value"] as? String {
        #expect(usage.contains("\(name) \(value)"))
        #expect(tool(command, name).error.contains("\(name) needs a value: \(name) \(value)."))
      } else {
        #expect(tool(command, name + "=x").error.contains("\(name) takes no value."))
      }
      #expect((option["summary"] as? String)?.isEmpty == false)
      // Help comes before any complaint about missing arguments.
      let text = option["value"] is String ? [name, "x"] : [name]
      #expect(tool.run([command] + text + ["--help"]).code == 0)
    }
    let unknown = tool(command, "--frobnicate")
    #expect(unknown.code == 2)
    #expect(unknown.error.hasPrefix("heirloom: Unknown option \"--frobnicate\" of heirloom \(command)"))
  }

  @Test func `every option that a command asks for is declared`() throws {
    let declared = Set(Self.commands.flatMap { Self.options(of: $0).compactMap { $0["name"] as? String } })
    let sources = Tool.snapshots.deletingLastPathComponent().appendingPathComponent("Sources/Tools/HeirloomCommands")
    var asked: Set<String> = []
    for case let url as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) ?? .init()
    where url.pathExtension == "swift" {
      let text = try String(contentsOf: url, encoding: .utf8)
      asked.formUnion(text.matches(of: /\.(?:has|value|all|required)\("(--[a-z-]+)"/).map { String($0.1) })
    }
    #expect(asked.isSuperset(of: ["--to", "--model", "--keep", "--sql"]))
    #expect(asked.subtracting(declared).isEmpty)
  }

  /// From the README, the tool's article and its own help.
  private static let examples: [String] = {
    let checkout = Tool.snapshots.deletingLastPathComponent()
    let text = ["README.md", "Sources/Heirloom/Heirloom.docc/CommandLineTool.md"].map { path in
      (try? String(contentsOf: checkout.appendingPathComponent(path), encoding: .utf8)) ?? ""
    }.joined()
    let written = text.matches(of: /swift run heirloom-tool ([^#&`\n]*[^#&`\n ])/).map { String($0.1) }
    let told = declared.compactMap { ($0["example"] as? String)?.dropFirst("heirloom ".count) }.map(String.init)
    return written + told
  }()

  @Test func `the examples can be typed as they stand`() throws {
    #expect(Self.examples.count > Self.commands.count + 10)
    let empty = try TemporaryDirectory()
    let tool = Tool(directory: empty.url, environment: ["TMPDIR": empty.url.path])
    for example in Self.examples {
      let words = example.matches(of: /'([^']*)'|[^ ]+/).map { String($0.1 ?? $0.0) }
      let outcome = tool.run(words)
      #expect(outcome.code != 2, "\(example): \(outcome.error)")
    }
  }

  @Test func `the version is told`() throws {
    #expect(tool("--version").output == "heirloom \(HeirloomTool.version)\n")
    #expect(try tool("--version", "--json").json()["version"] as? String == HeirloomTool.version)
  }

  /// With the words that the error names and those that were meant.
  private static let mistyped: [([String], String?, String?)] = [
    (["migrat"], "command \"migrat\"", "migrate"), (["Migrate"], "command \"Migrate\"", "migrate"),
    (["imgrate"], "command \"imgrate\"", "migrate"), (["help", "rehearsal"], "command \"rehearsal\"", "rehearse"),
    (["comp"], "command \"comp\"", "compare"), (["hlep"], "command \"hlep\"", "help"),
    (["plan", "a", "--ot", "b"], nil, nil), (["plan", "a", "--too", "b"], "option \"--too\" of heirloom plan", "--to"),
    (["migrate", "a", "--accept-loses"], "option \"--accept-loses\" of heirloom migrate", "--accept-losses"),
    (["--versio"], "option \"--versio\"", "--version"), (["demo", "dairy"], "story \"dairy\"", "Diary"),
    (["completions", "fisch"], "shell \"fisch\"", "fish"), (["diary"], nil, nil),
    (["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"], nil, nil),
  ]

  @Test(arguments: [
    (["status", "a"], "doctor"), (["init"], "new-version"), (["dry-run", "a"], "rehearse"),
    (["migrate", "a", "--dry-run"], "rehearse"), (["migrate", "a", "--to", "b", "--dry-run"], "rehearse"),
    (["rollback", "a"], "restore"), (["help", "diff"], "compare"), (["restore", "--undo"], "restore"),
  ])
  func `the word of another tool names the command that does it`(arguments: [String], meant: String) {
    let text = tool.run(arguments)
    #expect(text.code == 2)
    #expect(text.error.contains(": heirloom \(meant) does that.\n"), "\(text.error)")
    #expect(tool("help", meant).code == 0)
  }

  @Test(arguments: mistyped)
  func `a mistyped name is asked back`(arguments: [String], subject: String?, meant: String?) {
    let text = tool.run(arguments)
    #expect(text.code == 2)
    if let subject, let meant {
      #expect(text.error.hasPrefix("heirloom: Unknown \(subject): did you mean \"\(meant)\"?\n"), "\(text.error)")
    } else {
      #expect(!text.error.contains("did you mean"))
      #expect(text.error.contains(" there are ") || text.error.contains("--to"), "\(text.error)")
    }
  }

  @Test(arguments: [
    [], ["migrat"], ["inspect"], ["inspect", "a", "b"], ["inspect", "a", "--frobnicate"], ["compare"],
    ["plan", "a"], ["plan", "a", "--to"], ["plan", "a", "--to", "b", "--to", "c"],
    ["plan", "a", "--to", "b", "--sql=1"],
    ["migrate", "--to", "b"], ["migrate", "a", "--to", "b", "--keep", "0"],
    ["migrate", "a", "--to", "b", "--keep", "x"],
    ["migrate", "a", "--to", "b", "--decide", "x"], ["restore"], ["versions"], ["demo", "Garden"],
    ["restore", "a", "--defer"], ["salvage", "a"], ["completions"], ["completions", "sh"],
    ["help", "nonsense"], ["help", "plan", "migrate"],
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
