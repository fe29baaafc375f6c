import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// The SwiftData schemas that Swift source declares, and those hashes that are certain.
struct SwiftInspection {
  static let options = [
    Command.Option(
      name: "--root", value: "TYPE", isRepeatable: true,
      summary: "of Swift source, the versioned schema or the classes to show, instead of all schemas that are found"),
    .exclude,
  ]

  private struct Shown {
    let schema: SwiftDataSchemas.Schema
    let model: ManagedObjectModel?
    let hashes: [String: VersionHash]
    let doubts: [SwiftDataModelBuilder.Doubt]
    /// Why the entities form no model.
    var problem: String?

    /// Every hash of the schema equals SwiftData's.
    var isCertain: Bool { problem == nil && doubts.isEmpty && schema.faults.isEmpty }
  }

  private let folder: SwiftFolder
  private let found: SwiftDataSchemas
  private let shown: [Shown]

  init(path: String, roots: [String], excluding: [String]) throws(ModelReadingError) {
    let history = try SwiftHistory(path, excluding: excluding)
    (folder, found) = (history.folder, history.schemas)
    let source = found.source
    shown = (roots.isEmpty ? found.schemas : [found.schema(of: roots)]).map { schema in
      let builder = SwiftDataModelBuilder(of: schema.roots, in: source)
      do throws(ModelReadingError) {
        let model = try builder.model(identifier: schema.identifier ?? "1.0.0")
        return Shown(schema: schema, model: model, hashes: model.versionHashes(), doubts: builder.doubts)
      } catch {
        return Shown(schema: schema, model: nil, hashes: [:], doubts: builder.doubts, problem: error.description)
      }
    }
  }

  private func text(_ place: SwiftPlace) -> String { folder.source.text(place) }

  private var faults: [(place: String?, reason: String)] {
    let files = folder.source.faults.map { (place: "\($0.path):\($0.error.line)" as String?, reason: $0.error.reason) }
    let lists = shown.flatMap(\.schema.faults) + found.plans.flatMap(\.faults)
    let exclusions = folder.unknownExclusions.sorted { NaturalOrder.precedes($0, $1) }.map { path in
      (
        place: nil as String?,
        reason: "there is no Swift file and no folder at \"\(path)\" that --exclude could leave out"
      )
    }
    return exclusions + files + lists.map { ($0.place.map(text), $0.reason) }
  }

  func report(_ style: TextStyle) -> CommandReport {
    var report = CommandReport()
    report.members = [
      ("kind", .text("swiftSource")), ("path", .text(folder.path)), ("files", .integer(Int64(folder.fileCount))),
      ("passedOver", .texts(folder.passedOver)), ("schemas", .list(shown.map(output))),
      ("plans", .list(found.plans.map(output))),
      ("faults", .list(faults.map { .object([("place", .optional($0.place)), ("reason", .text($0.reason))]) })),
    ]
    let files = counted(Int64(folder.fileCount), "file")
    report.lines = ["\(style.bold(folder.path)): Swift source, \(files)"]
    if !folder.passedOver.isEmpty { report.lines.append("  skipped  \(listText(folder.passedOver))") }
    for fault in faults {
      let place = fault.place.map { "\($0): " } ?? ""
      report.lines.append(style.yellow("  note: ") + place + fault.reason)
    }
    for item in shown { report.lines += [""] + lines(item, style) }
    if shown.isEmpty { report.lines += ["", unlistedModels] }
    for plan in found.plans { report.lines += [""] + lines(plan, style) }
    return report
  }

  private var unlistedModels: String {
    let classes = folder.source.modelNames
    return classes.isEmpty
      ? "No class is marked @Model."
      : "No schema and no container lists \(listText(classes)); name what the app lists by --root."
  }

  // MARK: - Parts

  private func output(_ item: Shown) -> OutputValue {
    let doubts = Dictionary(grouping: item.doubts, by: \.entity)
    let names = Set(item.hashes.keys).union(doubts.keys).sorted { NaturalOrder.precedes($0, $1) }
    var entities: OutputMembers = []
    for name in names {
      let list = doubts[name]?.map { doubt in
        OutputValue.object([
          ("property", .optional(doubt.property)), ("place", .text(text(doubt.place))), ("reason", .text(doubt.reason)),
        ])
      }
      entities.append(
        name,
        list.map { .object([("doubts", .list($0))]) }
          ?? .object([("hash", .optional(item.hashes[name]?.description))]))
    }
    return .object([
      ("kind", .text(item.schema.kind.rawValue)), ("name", .text(item.schema.name)),
      ("place", .optional(item.schema.place.map(text))), ("alsoAt", .texts(item.schema.otherPlaces.map(text))),
      ("versionIdentifier", .optional(item.schema.identifier)), ("entities", .object(entities)),
      ("isCertain", .boolean(item.isCertain)),
    ])
  }

  private func output(_ plan: SwiftDataSchemas.Plan) -> OutputValue {
    .object([
      ("name", .text(plan.name)), ("place", .text(text(plan.place))), ("schemas", .texts(plan.schemas)),
      (
        "stages",
        .list(
          plan.stages.map { stage in
            .object([
              ("kind", .text(stage.kind.rawValue)), ("from", .text(stage.source)), ("to", .text(stage.destination)),
              ("place", .text(text(stage.place))),
            ])
          })
      ),
    ])
  }

  private func lines(_ item: Shown, _ style: TextStyle) -> [String] {
    let schema = item.schema
    let isCall = schema.kind == .schema || schema.kind == .modelContainer
    let words = style.bold(schema.name + (isCall ? "(…)" : "")) + (schema.place.map { " (\(text($0)))" } ?? "")
    let version = schema.identifier.map { ", version \($0)" } ?? ""
    var lines = ["\(words)\(version): \(counted(Int64(item.model?.entities.count ?? 0), "entity"))"]
    if !schema.otherPlaces.isEmpty { lines.append("  also at \(listText(schema.otherPlaces.map(text)))") }
    if let problem = item.problem { return lines + [style.yellow("  note: ") + sentence(problem)] }
    let uncertain = Set(item.doubts.map(\.entity))
    var table = TextTable(
      header: ["Entity", "Attributes", "Relationships", "Version hash"],
      alignments: [.left, .right, .right, .left])
    for entity in item.model?.entities ?? [] {
      table.add([
        entity.name, grouped(Int64(entity.attributes.count)), grouped(Int64(entity.relationships.count)),
        uncertain.contains(entity.name) ? "not certain" : item.hashes[entity.name]?.description ?? "",
      ])
    }
    if item.model?.entities.isEmpty == false { lines += table.lines() }
    for doubt in item.doubts {
      let name = doubt.property.map { "\(doubt.entity).\($0)" } ?? doubt.entity
      lines.append("  \(name) is not certain (\(text(doubt.place))): \(doubt.reason)")
    }
    return lines
  }

  private func lines(_ plan: SwiftDataSchemas.Plan, _ style: TextStyle) -> [String] {
    let schemas = plan.schemas.isEmpty ? "no schema" : plan.schemas.joined(separator: ", ")
    return ["\(style.bold(plan.name)) (\(text(plan.place))): \(schemas)"]
      + plan.stages.map { "  \($0.source) to \($0.destination): \($0.kind.rawValue) (\(text($0.place)))" }
  }
}
