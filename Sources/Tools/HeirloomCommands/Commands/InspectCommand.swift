import Foundation
import Heirloom
import HeirloomSwiftSource

extension Command {
  static let inspect = Command(
    name: "inspect", summary: "what a store, model, snapshot or mapping model is and holds",
    details: [
      "Shows entities, hashes, rows, and where the model of a store came from. Nothing is changed. The model of a store is one of those given by --model, the"
        + " snapshot beside it, or its own copy. Of versions with equal hashes it is the one that --model names, else the one that the"
        + " store's version identifiers name, else the one whose content its own copy has, else the snapshot's.",
      "Of a model everything is shown: entities with their properties, indexes and constraints, configurations and fetch requests;"
        + " of a store with --properties. With --json the member \"model\" holds all of it, as a snapshot does. Content of a file that"
        + " Heirloom doesn't know is named in notes.",
      "Of Swift source (a folder, or a .swift file) the schemas of SwiftData are shown: versioned ones, and the lists of"
        + " containers; with the hashes that SwiftData gives their entities. Anything that the text alone doesn't determine is"
        + " named with its place and isn't guessed. All commands take it as a model: the last schema of its plan, or one that"
        + " :SCHEMA after the path names. Hidden folders, links, Pods, Carthage, DerivedData and node_modules"
        + " are skipped.",
      "Of a mapping model (.xcmappingmodel, .cdm) the entity mappings are shown, with what was written for each property.",
      "With --hash or --from-log, the versions of a model are named that have the hashes, else the nearest one with what differs. A"
        + " log may have them in any form that Core Data, Swift, property lists and JSON print, escaped, wrapped or cut off; bytes"
        + " that it leaves out are not compared. The exit code is 5 where no version has them.",
    ],
    options: [.model, Option(name: "--properties", summary: "show every property of a store's model")]
      + HashInspection.options + SwiftInspection.options,
    example: "heirloom inspect Journal.sqlite", positionals: ["PATH"], requiredCount: 1,
    run: InspectCommand.run)
}

enum InspectCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    if HashInspection.isWanted(arguments) { return try HashInspection(at: path, arguments, console).report(console) }
    switch PathKind(path) {
    case .missing:
      if let source = Console.SwiftSource(path) { return try report(source, arguments, console) }
      throw CommandFailure(
        exitCode: .failed, code: CommandFailure.missingCode, coreDataCode: 260,
        message:
          "There is nothing at \(path); expected a store, a model, a compiled model, a snapshot or Swift source.",
        suggestion: "Check the path.")
    case .database:
      return try console.reading("Looking at the store", path) {
        try StoreInspectionText(path: path, models: arguments.all("--model"), console: console).report(
          console.style, showsModel: arguments.has("--properties"))
      }
    case .emptyFile:
      throw StoreError(path: path, problem: .empty)
    case .file where storeKind(path) != nil:
      throw CommandFailure(StoreError(path: path, problem: .notDatabase))
    case .unreadable, .folder, .file, .special:
      if let source = Console.SwiftSource(path) { return try report(source, arguments, console) }
      if MappingModelFile.isMappingModel(path) { return try MappingInspection(path: path).report(console.style) }
      do throws(ModelReadingError) {
        return try ModelInspection(path: path).report(console.style)
      } catch {
        throw failure(error)
      }
    }
  }

  /// `nil` if this command reads the file.
  private static func storeKind(_ path: String) -> FileStart.Kind? {
    FileStart(path).kind.flatMap { $0.command(at: path) == nil ? $0 : nil }
  }

  private static func report(
    _ source: Console.SwiftSource, _ arguments: Arguments, _ console: Console
  ) throws(ModelReadingError) -> CommandReport {
    try SwiftInspection(
      path: source.path, roots: source.roots + arguments.all("--root"), excluding: console.excludedSources
    ).report(console.style)
  }

  private static func failure(_ error: ModelReadingError) -> CommandFailure {
    var failure = CommandFailure(error)
    guard case .notModel(let content) = error.problem, let path = error.path else { return failure }
    failure.message =
      "\(path) is \(content.description); expected a store, a model, a compiled model, a snapshot or Swift source."
    return failure
  }
}
