import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let generate = Command(
    name: "generate", summary: "write a Swift type for each entity of a model",
    details: [
      "MODEL is a model of any kind, or a store, whose own model is used. Of a bundle or a folder it is the"
        + " current version unless --version names another.",
      "The file declares an enumeration with a type for each entity: its properties are of the model's types, and optional where"
        + " the model's are; fetches name them where the compiler sees it. With --source the types are read-only, for the source"
        + " objects of a policy.",
      "Names that Swift doesn't allow are changed, as comments show. Anything without a Swift type is left out and named. An"
        + " earlier file of the command is replaced, any other is left alone. A bundle with a version that was edited since it was shipped is refused.",
    ],
    options: [
      .exclude,
      Option(name: "--output", value: "FILE", summary: "the file to write, such as JournalModel.swift").required,
      Option(name: "--version", value: "VERSION", summary: "another version than the current one"),
      Option(name: "--source", summary: "read-only types, for the source of a migration"),
      Option(
        name: "--name", value: "NAME",
        summary:
          "the enumeration around the types; otherwise the model's or version's name with Model or Source after it"),
      Option(
        name: "--access", value: "ACCESS", choices: TypedSource.Access.allCases.map(\.rawValue),
        summary: "the access of the types, internal unless given"),
    ],
    example: "heirloom generate Journal.xcdatamodeld --output JournalModel.swift", positionals: ["MODEL"],
    requiredCount: 1, run: GenerateCommand.run)
}

enum GenerateCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let access = try access(arguments)
    let isReadOnly = arguments.has("--source")
    let model = try console.path(arguments.positionals[0])
    let version = arguments.value("--version")
    try refuseEdits(in: model, console)
    let named = try NamedModel(
      at: version.map { try path(ofVersion: $0, in: model, console) } ?? model, console: console)
    let base = version ?? (URL(fileURLWithPath: model).lastPathComponent as NSString).deletingPathExtension
    let wanted = arguments.value("--name") ?? base + (isReadOnly ? "Source" : "Model")
    let source = TypedSource(
      model: named.model, version: named.name, namespace: SwiftNames.assigned(to: [wanted])[wanted] ?? wanted,
      access: access, isReadOnly: isReadOnly)
    let (text, notes) = source.text()
    let output = try console.outputPath(arguments.required("--output", "FILE"))
    let isNew = try OutputFile(path: output, mark: TypedSource.mark).write(text)
    for note in named.warnings + notes { console.log("note: \(note)") }
    let count = named.model.entities.count
    return CommandReport(
      lines: [
        "\(output) was \(isNew ? "written" : "rewritten"): \(source.namespace), \(counted(Int64(count), "entity"))."
      ],
      members: [
        ("path", .text(output)), ("name", .text(source.namespace)), ("version", .text(named.name)),
        ("entities", .integer(Int64(count))), ("notes", .texts(named.warnings + notes)),
      ])
  }

  /// Throws if a version of the bundle was edited after it shipped, so the build fails instead of
  /// the app.
  private static func refuseEdits(in model: String, _ console: Console) throws(CommandFailure) {
    guard let list = try? console.versions(at: model) else { return }
    for entry in list.lock?.versions ?? [] {
      guard let read = try? list.version(named: entry.name)?.file.read(),
        let edited = entry.editedEntities(in: read.model.versionHashes())
      else { continue }
      throw CommandFailure(
        exitCode: .failed, code: "editedVersion", message: entry.sentence(onEdited: edited),
        suggestion: "heirloom check \(shellWord(model)) says more.")
    }
  }

  private static func path(ofVersion version: String, in model: String, _ console: Console) throws -> String {
    let list = try console.versions(at: model)
    guard let found = list.version(named: version) else {
      throw UsageError.unknown(.choice("version"), version, known: list.versions.map(\.name))
    }
    return found.file.path
  }

  private static func access(_ arguments: Arguments) throws(UsageError) -> TypedSource.Access {
    guard let word = arguments.value("--access") else { return .internal }
    guard let access = TypedSource.Access(rawValue: word) else {
      throw .unknown(.choice("access"), word, known: TypedSource.Access.allCases.map(\.rawValue))
    }
    return access
  }
}
