import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension Command {
  static let freeze = Command(
    name: "freeze", summary: "the current SwiftData schema as a frozen VersionedSchema",
    details: [
      "PATH is Swift source (a folder, or a .swift file), a store, a snapshot or a model. Of source it is the last schema of the"
        + " migration plan, or the only schema that is found; --root names another. The file declares a VersionedSchema with all"
        + " classes, structures and enumerations nested in it. Nothing else is changed.",
      "The output is read again on its own: each entity must have the version hash that it had, otherwise nothing is written and every"
        + " reason is named. An initial value that may name something outside is left out, and a note says so.",
      "The version was shipped: lock.json in the source's folder, or in that of --history, fixes its hashes, and heirloom check"
        + " finds a later edit. For a store or a model nothing is fixed without --history.",
      "It prints the code to paste beside it: the next schema with the classes of today, the plan's new entry, and the stage between"
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
      Option(
        name: "--history", value: "DIRECTORY",
        summary: "the folder whose lock.json fixes the version; otherwise that of the source"),
    ] + SwiftInspection.options,
    example: "heirloom freeze Sources/App --name SchemaV2", positionals: ["PATH"], requiredCount: 1,
    run: FreezeCommand.run)
}

enum FreezeCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let kind = try stageKind(arguments)
    let source = Console.SwiftSource(path)
    do {
      guard let source else { return try freeze(NamedModel(at: path, console: console), kind, arguments, console) }
      return try freeze(source, kind, arguments, console)
    } catch let error as FreezingError {
      throw failure(error, path, isSource: source != nil)
    }
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
    var report = try write(frozen, next, arguments, console, lock: (nil, []), notes: named.warnings)
    report.lines.append("A plan of the app lists it like this; \(next.next) is a placeholder for the next schema:")
    return report
  }

  /// With three numbers, since Core Data allows any text; `1.0.0` if there is none.
  private static func identifier(of model: ManagedObjectModel) -> String {
    model.versionIdentifiers.first { word in
      word.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }.count { $0 != nil } == 3
    } ?? "1.0.0"
  }

  // MARK: - From source

  private static func freeze(
    _ source: Console.SwiftSource, _ kind: SwiftDataSchemas.Stage.Kind, _ arguments: Arguments, _ console: Console
  ) throws -> CommandReport {
    let path = source.path
    let history = try console.read(source)
    let (folder, found) = (history.folder, history.schemas)
    let unknown = folder.unknownExclusions.sorted { NaturalOrder.precedes($0, $1) }
    guard unknown.isEmpty else {
      throw FreezingError(reasons: unknown.map { "there is nothing at \"\($0)\" that --exclude could leave out" })
    }
    let roots = source.roots + arguments.all("--root")
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
    // Versions before it in the plan were shipped before it.
    let versions = isVersioned ? (try? console.versions(at: path).versions) ?? [] : []
    var report = try write(
      frozen, next, arguments, console,
      lock: (folder.directory, versions.prefix { $0.name != schema.name }.filter(\.isPlanned)), notes: [])
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

  private static func write(
    _ frozen: FrozenSchema, _ next: FrozenSuccession, _ arguments: Arguments, _ console: Console,
    lock: (folder: String?, earlier: [ModelVersionList.Version]), notes: [String]
  ) throws -> CommandReport {
    let output = try console.outputPath(arguments.value("--output") ?? "\(frozen.name).swift")
    let release = try (arguments.value("--history").map(console.path) ?? lock.folder).map { folder in
      try ReleaseLock(of: frozen, after: lock.earlier, in: folder)
    }
    let file = SnapshotFile(path: output, files: POSIXFileOperations())
    let bytes = Array(frozen.text.utf8)
    var isNew = true
    switch PathKind(output) {
    case .missing: try file.write(bytes)
    case .file where try file.read() == bytes: isNew = false
    default:
      throw CommandFailure(
        exitCode: .failed, code: "fileExists", coreDataCode: 516,
        message: "\(output) exists with other content; it was not changed.",
        suggestion: "Name another file with --output, or move that one away.")
    }
    try release?.write()
    let notes = notes + frozen.notes + (release?.notes ?? [])
    let entities = frozen.hashes.keys.sorted { NaturalOrder.precedes($0, $1) }
    var hashes: OutputMembers = []
    for entity in entities { hashes.append(entity, .optional(frozen.hashes[entity]?.description)) }
    let verb = isNew ? "was written" : "holds the schema already and was left as it is"
    var report = CommandReport(
      lines: [
        "\(output) \(verb): \(frozen.name) \(frozen.identifier), \(counted(Int64(entities.count), "entity"))."
      ] + (release.map { ["\($0.path) fixes \(listText($0.names.map { "\"\($0)\"" })), in this order."] } ?? [])
        + notes.map { console.style.yellow("  note: ") + sentence($0) },
      source: "\n\(next.text)\n",
      members: [
        ("path", .text(output)), ("name", .text(frozen.name)), ("isNew", .boolean(isNew)),
        ("lock", .optional(release?.path)), ("versionIdentifier", .text(frozen.identifier)),
        ("entities", .object(hashes)),
        ("notes", .texts(notes)),
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

/// The lock that records a frozen schema as shipped.
private struct ReleaseLock {
  let path: String
  private let before: VersionLock?
  private var content: VersionLock
  /// Sentences, without a full stop, about earlier versions that can't be locked.
  private(set) var notes: [String] = []

  var names: [String] { content.versions.map(\.name) }

  /// Adds the schema last, after those of `earlier` that the lock lacks; nothing is written yet.
  init(of frozen: FrozenSchema, after earlier: [ModelVersionList.Version], in folder: String) throws {
    path = SnapshotFolder.lockPath(in: folder)
    if case .missing = PathKind(path) { before = nil } else { before = try VersionLock(path: path) }
    content = before ?? VersionLock()
    for (position, version) in earlier.enumerated() where !names.contains(version.name) {
      do throws(ModelReadingError) {
        let later = Set(earlier[position...].map(\.name) + [frozen.name])
        let place = content.versions.firstIndex { later.contains($0.name) } ?? content.versions.endIndex
        content.versions.insert(VersionLock.Entry(name: version.name, model: try version.file.read().model), at: place)
      } catch {
        notes.append("\"\(version.name)\" is not fixed: \(error.cause)")
      }
    }
    let entry = VersionLock.Entry(
      name: frozen.name, checksum: ManagedObjectModel.versionChecksum(of: frozen.hashes),
      entities: frozen.hashes.mapValues(\.description))
    guard let known = content.entry(named: frozen.name) else {
      content.versions.append(entry)
      return
    }
    guard let edited = known.editedEntities(in: frozen.hashes) else { return }
    throw CommandFailure(
      exitCode: .failed, code: "editedVersion",
      message: "\(known.sentence(onEdited: edited)) Nothing was written.",
      suggestion: "\(path) has the hashes of what was shipped; --name freezes the schema as another version.")
  }

  func write() throws {
    guard content != before else { return }
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try SnapshotFile(path: path, files: POSIXFileOperations()).write(content.encoded())
  }
}
