import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension Command {
  /// The command that writes a frozen schema of SwiftData.
  static let freeze = Command(
    name: "freeze", summary: "the current SwiftData schema as a frozen VersionedSchema, which no later edit changes",
    details: [
      "PATH is Swift source (a folder, or a .swift file), a store, a snapshot or a model. Of source it is the last schema of the"
        + " migration plan, or the only schema that is found; --root names another. The file declares a VersionedSchema with all"
        + " classes, structures and enumerations nested in it. Nothing else is changed.",
      "What is written is read again, alone: each entity has the version hash that it had, or nothing is written and every"
        + " reason is named. An initial value that may name something outside is left out, and a note says so.",
      "It prints what is pasted beside it: the next schema with the classes of today, the plan's new entry, and the stage between"
        + " them. Before the first edit of a class both schemas have the same hashes, which SwiftData refuses.",
    ],
    options: [
      Option(
        name: "--name", value: "NAME",
        summary: "the name of the enumeration; otherwise that of the schema that lists live classes, or SchemaV1"),
      Option(name: "--identifier", value: "NUMBER", summary: "the version's number, such as 2.0.0"),
      Option(
        name: "--stage", value: "KIND", choices: ["lightweight", "custom"],
        summary: "the kind of the stage to the next schema, lightweight unless given"),
      Option(name: "--output", value: "FILE", summary: "the file to write; otherwise NAME.swift in the current folder"),
    ] + SwiftInspection.options,
    example: "heirloom freeze Sources/App --name SchemaV2", positionals: ["PATH"], requiredCount: 1,
    run: FreezeCommand.run)
}

/// A run of the command that writes a frozen schema.
enum FreezeCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let kind = try stageKind(arguments)
    do {
      guard isSource(path) else { return try freeze(NamedModel(at: path), kind, arguments, console) }
      return try freezeSource(at: path, kind, arguments, console)
    } catch let error as FreezingError {
      throw failure(error, path, isSource: isSource(path))
    }
  }

  /// Returns true for a Swift file, and for a folder that holds one.
  private static func isSource(_ path: String) -> Bool {
    guard case .folder = PathKind(path) else { return path.hasSuffix(".swift") }
    return SwiftFolder.isSource(path)
  }

  private static func stageKind(_ arguments: Arguments) throws(UsageError) -> SwiftDataSchemas.Stage.Kind {
    let word = arguments.value("--stage") ?? "lightweight"
    guard let kind = SwiftDataSchemas.Stage.Kind(rawValue: word) else {
      throw .unknown(.choice("stage"), word, known: ["lightweight", "custom"])
    }
    return kind
  }

  private static func failure(_ error: FreezingError, _ path: String, isSource: Bool) -> CommandFailure {
    var failure = CommandFailure(
      exitCode: .failed, code: "notFreezable",
      message: "\(path) can't be frozen, and nothing was written: \(error.reasons.joined(separator: "; ")).",
      suggestion: isSource
        ? "--root names the schema or the classes, and --exclude leaves out files of other targets." : nil)
    failure.list = ("\(path) can't be frozen, and nothing was written:", error.reasons.map { [$0] })
    failure.advice = failure.suggestion.map { [$0] } ?? []
    failure.findings = [("reasons", .texts(error.reasons))]
    return failure
  }

  // MARK: - From a model

  private static func freeze(
    _ named: NamedModel, _ kind: SwiftDataSchemas.Stage.Kind, _ arguments: Arguments, _ console: Console
  ) throws -> CommandReport {
    let frozen = try FrozenSchema(
      named.model, name: arguments.value("--name") ?? "SchemaV1",
      identifier: arguments.value("--identifier") ?? identifier(of: named.model))
    let next = FrozenSuccession(after: frozen, classes: [], plan: nil, stage: kind)
    var report = try write(frozen, next, arguments, console, notes: named.warnings)
    report.lines.append("A plan of the app lists it like this; \(next.next) stands for the schema that follows:")
    return report
  }

  /// Returns the version's number; identifiers of Core Data may be anything.
  private static func identifier(of model: ManagedObjectModel) -> String {
    model.versionIdentifiers.first { word in
      word.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }.count { $0 != nil } == 3
    } ?? "1.0.0"
  }

  // MARK: - From source

  private static func freezeSource(
    at path: String, _ kind: SwiftDataSchemas.Stage.Kind, _ arguments: Arguments, _ console: Console
  ) throws -> CommandReport {
    let folder = try SwiftFolder(path, excluding: arguments.all("--exclude"))
    let unknown = folder.unknownExclusions.sorted { NaturalOrder.precedes($0, $1) }
    guard unknown.isEmpty else {
      throw FreezingError(reasons: unknown.map { "there is nothing at \"\($0)\" that --exclude could leave out" })
    }
    let found = SwiftDataSchemas(folder.source)
    let roots = arguments.all("--root")
    let schema = try roots.isEmpty ? found.currentSchema() : found.schema(of: roots)
    let place = schema.place.map(found.source.text)
    if found.isFrozen(schema) {
      return CommandReport(
        lines: ["\(schema.name) (\(place ?? path)) is frozen already: all of its types are declared in it."],
        members: [("path", .null), ("name", .text(schema.name)), ("isNew", .boolean(false))])
    }
    let isVersioned = schema.kind == .versionedSchema
    let old = schema.name.split(separator: ".").last.map(String.init) ?? ""
    let name = arguments.value("--name") ?? (isVersioned ? old : "SchemaV1")
    let taken = found.places(ofType: name, besides: schema).map(found.source.text)
    guard taken.isEmpty else {
      throw FreezingError(reasons: taken.map { "\"\(name)\" is declared already (\($0)): --name gives another name" })
    }
    let frozen = try FrozenSchema(
      schema, of: found, name: name, identifier: arguments.value("--identifier") ?? schema.identifier ?? "1.0.0")
    let plan = found.plans.first { $0.schemas.contains(schema.name) } ?? (isVersioned ? nil : found.plans.first)
    let isReplaced = isVersioned && name == old
    let next = FrozenSuccession(
      after: frozen, before: isVersioned && !isReplaced ? schema.name : nil, classes: found.classNames(of: schema),
      plan: plan, stage: kind)
    var report = try write(frozen, next, arguments, console, notes: [])
    if isReplaced, let place {
      report.lines.append("Remove the declaration of \(name) in \(place): the frozen one takes its place.")
    }
    report.members.append("replaces", .optional(isReplaced ? place : nil))
    let listed = next.entry == "\(name).self" ? " before \(schema.name).self, whose number rises" : " at the end"
    report.lines.append("With the first edit of a class (before it, SwiftData refuses two schemas of equal hashes):")
    if let plan {
      let places = [plan.schemasPlace, plan.stagesPlace].map { found.source.text($0 ?? plan.place) }
      report.lines += [
        "  \(places[0]): add \(next.entry) to the schemas of \(plan.name)\(listed)",
        "  \(places[1]): add \(next.stage) to its stages, in the same order",
      ]
      report.members.append(
        "plan", .object([("name", .text(plan.name)), ("schemasAt", .text(places[0])), ("stagesAt", .text(places[1]))]))
    }
    return report
  }

  // MARK: - Writing

  /// Writes the file, and begins the report.
  private static func write(
    _ frozen: FrozenSchema, _ next: FrozenSuccession, _ arguments: Arguments, _ console: Console, notes: [String]
  ) throws -> CommandReport {
    let output = try console.outputPath(arguments.value("--output") ?? "\(frozen.name).swift")
    let file = SnapshotFile(path: output, files: POSIXFileOperations())
    let bytes = Array(frozen.text.utf8)
    var isNew = true
    switch PathKind(output) {
    case .missing: try file.write(bytes)
    case .file where try file.read() == bytes: isNew = false
    default:
      throw CommandFailure(
        exitCode: .failed, code: "fileExists", coreDataCode: 516,
        message: "\(output) is there already with other content; it was left alone.",
        suggestion: "Name another file with --output, or move that one away.")
    }
    let notes = notes + frozen.notes
    let entities = frozen.hashes.keys.sorted { NaturalOrder.precedes($0, $1) }
    var hashes: OutputMembers = []
    for entity in entities { hashes.append(entity, .optional(frozen.hashes[entity]?.description)) }
    let verb = isNew ? "was written" : "holds the schema already and was left as it is"
    var report = CommandReport(
      lines: [
        "\(output) \(verb): \(frozen.name) \(frozen.identifier), \(counted(Int64(entities.count), "entity"))."
      ] + notes.map { console.style.yellow("  note: ") + sentence($0) },
      source: "\n\(next.text)\n",
      members: [
        ("path", .text(output)), ("name", .text(frozen.name)), ("isNew", .boolean(isNew)),
        ("versionIdentifier", .text(frozen.identifier)), ("entities", .object(hashes)), ("notes", .texts(notes)),
      ])
    report.members.append(
      "next",
      .object([
        ("name", .text(next.next)), ("entry", .text(next.entry)), ("stage", .text(next.stage)),
        ("source", .source(next.text)),
      ]))
    return report
  }
}
