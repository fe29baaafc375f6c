import Foundation
import Heirloom
import HeirloomOutput
import HeirloomStories

extension Command {
  static let demo = Command(
    name: "demo", summary: "a store migrated through its model's versions, step by step",
    details: [
      "The stories are Done, a to-do list that goes through three versions and comes back to the first (run unless another is"
        + " named), Diary, whose archived arrays become objects by policies of the app's own, and Aircraft, whose flight data"
        + " move into objects of their own in stages. Everything happens in a temporary folder, which is removed at the end."
        + " All output was read from the store; the exit code is not 0 if anything is not as it should be."
    ],
    options: [
      Option(
        name: "--snapshots", value: "DIRECTORY",
        summary: "the folder with the stories; else the nearest Snapshots folder above the current one or the tool"),
      Option(name: "--keep-files", summary: "leave the folder with the store for a look"),
    ],
    example: "heirloom demo Done --keep-files", positionals: ["STORY"],
    choices: ["STORY": DemoCommand.stories.map { $0.name }], run: DemoCommand.run)
}

enum DemoCommand {
  static var stories: [any DemoRun.Type] { [DoneRun.self, DiaryRun.self, AircraftRun.self] }

  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    do {
      return try tell(arguments, console)
    } catch let failure as DemoFailure {
      throw CommandFailure(failure)
    }
  }

  private static func tell(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let name = arguments.positionals.first ?? DoneRun.name
    guard let story = stories.first(where: { $0.name == name }) else {
      throw UsageError.unknown(.choice("story"), name, known: stories.map { $0.name })
    }
    let folder = try folder(of: name, arguments: arguments, console: console)
    let versions = try ModelVersionList(folder).versions.map {
      DemoStory.Version(name: $0.name, model: try $0.file.read().model, lockedChecksum: $0.lockedChecksum)
    }
    let models = try DemoStory(versions, folder: folder, versionCount: story.versionCount)
    let parent =
      console.environment["TMPDIR"].map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
    let directory = parent.appendingPathComponent("heirloom-demo-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let keepsFiles = arguments.has("--keep-files")
    defer { if !keepsFiles { try? FileManager.default.removeItem(at: directory) } }
    var run = story.init(story: models, directory: directory, tale: DemoTale(style: console.style))
    try run.tell()
    let end =
      keepsFiles
      ? "Everything stays in \(directory.path): try heirloom inspect \(shellWord(run.storePath))."
      : "The folder is removed now; --keep-files leaves it for a look."
    return CommandReport(
      lines: run.tale.lines + [end],
      members: [
        ("story", .text(name)), ("directory", .text(directory.path)), ("store", .text(run.storePath)),
        ("steps", .list(run.tale.steps)),
      ])
  }

  private static func folder(of name: String, arguments: Arguments, console: Console) throws -> String {
    if let word = arguments.value("--snapshots") {
      let given = try console.path(word)
      if let folder = [given + "/" + name, given].first(where: isStory) { return folder }
      throw missing(name, searched: [given])
    }
    let starts =
      [console.currentDirectory] + (console.executablePath().map { [($0 as NSString).deletingLastPathComponent] } ?? [])
    for start in starts {
      var folder = URL(fileURLWithPath: start).standardized
      while true {
        // An installed tool has its stories in the second folder.
        for place in ["Snapshots", "share/heirloom/Snapshots"] {
          let candidate = folder.appendingPathComponent(place).appendingPathComponent(name).path
          if isStory(candidate) { return candidate }
        }
        let parent = folder.deletingLastPathComponent().standardized
        guard parent.path != folder.path, folder.path != "/" else { break }
        folder = parent
      }
    }
    throw missing(name, searched: starts.map { $0 + " and the folders above it" })
  }

  private static func isStory(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path + "/lock.json")
  }

  private static func missing(_ name: String, searched: [String]) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "missing", coreDataCode: 260,
      message: "The story \(name) was not found: no folder Snapshots/\(name) with a lock.json in "
        + searched.joined(separator: ", nor in ") + ".",
      suggestion: "Run the tool in Heirloom's checkout or as it was installed, or name the folder with --snapshots.")
  }
}

extension CommandFailure {
  fileprivate init(_ failure: DemoFailure) {
    switch failure {
    case .editedVersion(let name, let folder, let checksum, let locked):
      self.init(
        exitCode: .failed, code: "editedVersion",
        message: "The version \"\(name)\" in \(folder) was edited after it was shipped: its checksum is"
          + " \(checksum), and lock.json has \(locked).",
        suggestion: "Restore the version, for example from version control.")
    case .missingVersions(let folder, let found, let expected):
      self.init(
        exitCode: .failed, code: "missing",
        message: "The story in \(folder) has \(found) versions; expected \(expected).",
        suggestion: "Restore the story, for example from version control.")
    case .wentWrong(let complaint, let storePath):
      self.init(
        exitCode: .failed, code: "failed", message: "The demo failed: \(complaint).",
        suggestion: "This is a defect of Heirloom; run with --keep-files and report what is in the folder.",
        storeAt: storePath)
    }
  }
}
