import Foundation
import Heirloom
import HeirloomOutput

struct StoreInspectionText {
  private let inspection: StoreInspection
  private let given: StoreModels

  init(path: String, models: [String], console: Console) throws {
    given = try StoreModels(at: models, forStoreAt: path, console: console)
    inspection = try StoreInspection(at: path, known: given.all.fitting)
  }

  private var digest: String { ManagedObjectModel.versionHashesDigest(of: computedHashes) }

  private var checksum: String { ManagedObjectModel.versionChecksum(of: computedHashes) }

  /// Of the model, or those in the metadata if no model is known.
  private var computedHashes: [String: VersionHash] {
    var hashes: [String: VersionHash] = [:]
    for entity in inspection.entities { hashes[entity.name] = entity.versionHash ?? entity.storedHash }
    return hashes
  }

  private var equalCount: Int {
    inspection.entities.count { $0.versionHash != nil && $0.versionHash == $0.storedHash }
  }

  func report(_ style: TextStyle, showsModel: Bool) -> CommandReport {
    let metadata = inspection.metadata
    var report = CommandReport()
    report.members = [
      ("kind", .text("store")), ("path", .text(inspection.path)), ("identifier", .text(metadata.identifier)),
      ("versionChecksum", .text(checksum)), ("storedChecksum", .optional(metadata.versionChecksum)),
      ("versionHashesDigest", .text(digest)), ("storedDigest", .optional(metadata.versionHashesDigest)),
      ("versionIdentifiers", .texts(metadata.versionIdentifiers)), ("modelSource", .text(inspection.origin.rawValue)),
      ("versionName", .optional(inspection.versionName)), ("configuration", .optional(inspection.configuration)),
      ("frameworkVersion", .integer(Int64(metadata.frameworkVersion))),
      ("entities", .list(inspection.entities.map(Self.output))), ("warnings", .texts(notes)),
      ("deferred", .texts(inspection.deferred)),
      ("model", inspection.model.map { ModelText(model: $0).output } ?? .null),
    ]
    report.lines = head(style) + [""] + table()
    if showsModel, let model = inspection.model { report.lines += ModelText(model: model).lines(style) }
    return report
  }

  private static func output(_ entity: StoreInspection.Entity) -> OutputValue {
    .object([
      ("name", .text(entity.name)), ("superentity", .optional(entity.superentity)),
      ("versionHash", .optional(entity.versionHash?.description)),
      ("storedHash", .optional(entity.storedHash?.description)), ("rows", .optional(entity.rows)),
    ])
  }

  private func head(_ style: TextStyle) -> [String] {
    let metadata = inspection.metadata
    var lines = [
      "\(style.bold(inspection.path)): a Core Data store",
      "  holds        \(counted(inspection.rowCount, "object")) in \(counted(Int64(inspection.entities.count), "entity"))"
        + (inspection.hasLog ? ", some perhaps only in its -wal file" : ""),
      "  model        \(modelWords)",
      "  hashes       \(hashWords(style))",
      "  checksum     \(comparison(checksum, stored: metadata.versionChecksum, style))",
      "  digest       \(comparison(digest, stored: metadata.versionHashesDigest, style))",
      "  written by   \(metadata.writerWords)",
      "  identifier   \(metadata.identifier)",
    ]
    if !metadata.versionIdentifiers.isEmpty {
      lines.append("  identifiers  \(listText(metadata.versionIdentifiers)) (of the model's version)")
    }
    if !inspection.deferred.isEmpty {
      lines.append("  left         \(listText(inspection.deferred, limit: 6)) (a deferred migration cleans up later)")
    }
    for note in notes { lines.append(style.yellow("  note: ") + sentence(note)) }
    return lines
  }

  private var notes: [String] { inspection.notes + [given.wordsForMissing].compactMap(\.self) }

  private var modelWords: String {
    let made = given.isMerged ? given.words : nil
    let version = made ?? inspection.versionName.map { "the version \"\($0)\"" } ?? "its version"
    let configuration = inspection.configuration.map { ", configuration \"\($0)\"" } ?? ""
    return switch inspection.origin {
    case .snapshot: "\(version), from the snapshot beside it\(configuration)"
    case .file: "\(version), from the file that was given\(configuration)"
    case .cache: "from the store's own copy\(configuration)"
    case .none: "none found that fits; give it with --model. The hashes are those of the metadata."
    }
  }

  private func hashWords(_ style: TextStyle) -> String {
    guard inspection.model != nil else { return "\(inspection.entities.count) stored, none computed" }
    let words = "\(equalCount) of \(inspection.entities.count) computed hashes equal the stored ones"
    return equalCount == inspection.entities.count ? words : style.red(words)
  }

  private func comparison(_ computed: String, stored: String?, _ style: TextStyle) -> String {
    guard let stored else { return "\(computed) (none is stored)" }
    return stored == computed
      ? "\(computed) (equals the stored one)" : style.red("\(computed) (the stored one is \(stored))")
  }

  private func table() -> [String] {
    var table = TextTable(
      header: ["Entity", "Parent", "Objects", "Version hash"], alignments: [.left, .left, .right, .left])
    for entity in inspection.entities {
      let hash = entity.storedHash?.description ?? ""
      let isEqual = entity.versionHash == nil || entity.versionHash == entity.storedHash
      table.add([
        entity.name, entity.superentity ?? "", entity.rows.map(grouped) ?? "?",
        isEqual ? hash : "\(hash) (computed: \(entity.versionHash?.description ?? ""))",
      ])
    }
    return table.lines()
  }
}

extension StoreMetadata {
  var writerWords: String {
    (generation == nil ? "Core Data" : "Heirloom")
      + (frameworkVersion == 0 ? "" : ", framework version \(frameworkVersion)")
  }
}
