import Foundation
import Heirloom
import HeirloomOutput

struct ModelInspection {
  private let path: String
  private let kind: ModelFile.Kind
  private let list: ModelVersionList
  private let read: ReadModel

  init(path: String) throws(ModelReadingError) {
    self.path = path
    let file = try ModelFile(path)
    kind = file.kind
    list = try ModelVersionList(path)
    read = try file.read()
  }

  private var kindName: String {
    switch kind {
    case .source, .sourceBundle: "xcdatamodel"
    case .compiled, .compiledBundle: "compiledModel"
    case .snapshot, .snapshotFolder, .inMemory: "snapshot"
    }
  }

  private var kindWords: String {
    switch kind {
    case .source: "a model"
    case .sourceBundle: "a bundle of models"
    case .compiled: "a compiled model"
    case .compiledBundle: "a bundle of compiled models"
    case .snapshot: "a snapshot of a model"
    case .snapshotFolder, .inMemory: "a folder of model versions"
    }
  }

  func report(_ style: TextStyle) -> CommandReport {
    let model = read.model
    let hashes = model.versionHashes()
    let checksum = ManagedObjectModel.versionChecksum(of: hashes)
    // Reading a snapshot verifies its own hashes already.
    let isSnapshot = kind == .snapshot
    let entities = model.entities.map { entity in
      OutputValue.object([
        ("name", .text(entity.name)), ("superentity", .optional(entity.superentity)),
        ("versionHash", .optional(hashes[entity.name]?.description)),
        ("storedHash", isSnapshot ? .optional(hashes[entity.name]?.description) : .null), ("rows", .null),
      ])
    }
    var report = CommandReport()
    report.members = [
      ("kind", .text(kindName)), ("path", .text(path)), ("versionChecksum", .text(checksum)),
      ("versionIdentifiers", .texts(model.versionIdentifiers)),
      ("modelSource", .text(isSnapshot ? "snapshot" : "file")), ("versionName", .optional(list.currentVersionName)),
      ("versions", .texts(list.versions.map(\.name))), ("entities", .list(entities)),
      ("warnings", .texts(read.warnings.map(\.description))), ("model", ModelText(model: model).output),
    ]

    report.lines = ["\(style.bold(path)): \(kindWords)", "  checksum     \(checksum)"]
    report.lines.append("  digest       \(ManagedObjectModel.versionHashesDigest(of: hashes))")
    if !model.versionIdentifiers.isEmpty {
      report.lines.append("  identifiers  \(listText(model.versionIdentifiers))")
    }
    if list.versions.count > 1 {
      let names = list.versions.map { $0.name == list.currentVersionName ? "\($0.name) (shown here)" : $0.name }
      report.lines.append("  versions     \(listText(names, limit: 200))")
    }
    for warning in read.warnings { report.lines.append(style.yellow("  note: ") + warning.description) }
    var table = TextTable(
      header: ["Entity", "Parent", "Attributes", "Relationships", "Version hash"],
      alignments: [.left, .left, .right, .right, .left])
    for entity in model.entities {
      table.add([
        entity.name + (entity.isAbstract ? " (abstract)" : ""), entity.superentity ?? "",
        grouped(Int64(entity.attributes.count)), grouped(Int64(entity.relationships.count)),
        hashes[entity.name]?.description ?? "",
      ])
    }
    report.lines += ["", counted(Int64(model.entities.count), "entity") + ":"] + table.lines()
    report.lines += ModelText(model: model).lines(style)
    return report
  }
}
