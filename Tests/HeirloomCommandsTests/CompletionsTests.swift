import Foundation
import TestSupport
import Testing

struct CompletionsTests {
  private static func shell(_ name: String) -> URL? {
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(fileURLWithPath: "\($0)/\(name)") }.first {
      FileManager.default.isExecutableFile(atPath: $0.path)
    }
  }
  private static let bash = shell("bash")
  private static let zsh = shell("zsh")
  private static let fish = shell("fish")

  private struct Scene {
    let directory: TemporaryDirectory
    let script: URL

    init(_ shell: String) throws {
      directory = try TemporaryDirectory()
      let outcome = Tool(directory: directory.url)("completions", shell)
      #expect(outcome.code == 0)
      script = directory.file("script")
      try Data(outcome.output.utf8).write(to: script)
      for name in ["My Journal.sqlite", "Notes.sqlite"] { try Data().write(to: directory.file(name)) }
      let folder = directory.file("Journal.xcdatamodeld")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    func lines(_ shell: URL, _ arguments: [String]) throws -> [String] {
      let process = Process()
      process.executableURL = shell
      process.arguments = arguments
      process.currentDirectoryURL = directory.url
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let text = String(decoding: data, as: UTF8.self)
      #expect(process.terminationStatus == 0, "\(text)")
      return text.split(separator: "\n").map(String.init)
    }
  }

  /// The last word is completed.
  private static let lines: [([String], [String])] = [
    (["mi"], ["migrate"]), (["help", "re"], ["rehearse", "restore", "repair", "report"]), (["--v"], ["--version"]),
    (["migrate", "--accept-l"], ["--accept-losses"]), (["migrate", "Notes.sqlite", "--t"], ["--to"]),
    (["migrate", "My"], ["My Journal.sqlite"]), (["verify", "N"], ["Notes.sqlite"]),
    (["plan", "Notes.sqlite", "--to", "J"], ["Journal.xcdatamodeld"]),
    (["plan", "Notes.sqlite", "--to", "=", "J"], ["Journal.xcdatamodeld"]),
    (["plan", "Notes.sqlite", "--to", "=", "No"], ["Notes.sqlite"]),
    (["migrate", "Notes.sqlite", "--keep", ""], []), (["demo", ""], ["Done", "Diary", "Aircraft"]),
    (["demo", "--snapshots", ""], ["Journal.xcdatamodeld"]), (["completions", ""], ["bash", "zsh", "fish"]),
    (["nonsense", ""], []), (["versions", "--x"], []),
  ]

  @Test(.enabled(if: bash != nil, "bash is not installed"), arguments: lines)
  func `bash completes commands, options and files`(words: [String], expected: [String]) throws {
    let scene = try Scene("bash")
    let program = """
      source "$1"; shift; COMP_WORDS=(heirloom "$@"); COMP_CWORD=$#; _heirloom; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let found = try scene.lines(try #require(Self.bash), ["-c", program, "bash", scene.script.path] + words)
    #expect(found == expected)
  }

  @Test(.enabled(if: bash != nil, "bash is not installed"))
  func `bash completes every command and every option`() throws {
    let scene = try Scene("bash")
    let help = try Tool(directory: scene.directory.url)("help", "--json").json()
    let commands = try #require(help["commands"] as? [[String: Any]])
    let program = """
      source "$1"; shift
      for command; do COMP_WORDS=(heirloom "$command" --) COMP_CWORD=2; _heirloom; echo "$command ${COMPREPLY[*]}"; done
      COMP_WORDS=(heirloom ''); COMP_CWORD=1; _heirloom; echo "${COMPREPLY[*]}"
      """
    let names = commands.compactMap { $0["name"] as? String }
    let found = try scene.lines(try #require(Self.bash), ["-c", program, "bash", scene.script.path] + names)
    let expected = commands.map { command in
      let options = (command["options"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
      return ([command["name"] as? String ?? ""] + options).joined(separator: " ")
    }
    #expect(found == expected + [(names + ["help"]).joined(separator: " ")])
  }

  @Test(.enabled(if: zsh != nil, "zsh is not installed: its completions are not tried"))
  func `zsh understands its script`() throws {
    let scene = try Scene("zsh")
    #expect(try scene.lines(try #require(Self.zsh), ["-n", scene.script.path]).isEmpty)
  }

  @Test(.enabled(if: fish != nil, "fish is not installed: its completions are not tried"))
  func `fish completes commands, options and files`() throws {
    let scene = try Scene("fish")
    let fish = try #require(Self.fish)
    #expect(try scene.lines(fish, ["-n", scene.script.path]).isEmpty)
    for (line, expected) in [
      ("heirloom mi", ["migrate"]), ("heirloom migrate --accept-l", ["--accept-losses"]),
      ("heirloom completions ", ["bash", "fish", "zsh"]), ("heirloom plan --to J", ["Journal.xcdatamodeld/"]),
    ] {
      let found = try scene.lines(fish, ["--no-config", "-c", "source script; complete -C '\(line)'"])
      #expect(found.map { String($0.split(separator: "\t")[0]) } == expected)
    }
  }
}
