import Foundation
import Heirloom
import HeirloomOutput

/// The inspection of a store.
struct StoreInspection {
  private let look: StoreLook

  /// Inspects a store.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - models: The paths of models that may have made it.
  ///   - console: Receives notes on models that can't be read.
  /// - Throws: `StoreError`, `ModelReadingError`.
  init(path: String, models: [String], console: Console) throws {
    look = try StoreLook(at: path, known: NamedModel.likeliestFirst(at: models, console: console).fitting)
  }

  private var digest: String { ManagedObjectModel.versionHashesDigest(of: computedHashes) }

  private var checksum: String { ManagedObjectModel.versionChecksum(of: computedHashes) }

  /// The hashes of the model where there is one, else those in the store's metadata.
  private var computedHashes: [String: VersionHash] {
    var hashes: [String: VersionHash] = [:]
    for entity in look.entities { hashes[entity.name] = entity.versionHash ?? entity.storedHash }
    return hashes
  }

  private var equalCount: Int {
    look.entities.count { $0.versionHash != nil && $0.versionHash == $0.storedHash }
  }

  /// Reports the store, and on request every property of its model.
  func report(_ style: TextStyle, showsModel: Bool) -> CommandReport {
    let metadata = look.metadata
    var report = CommandReport()
    report.members = [
      ("kind", .text("store")), ("path", .text(look.path)), ("identifier", .text(metadata.identifier)),
      ("versionChecksum", .text(checksum)), ("storedChecksum", .optional(metadata.versionChecksum)),
      ("versionHashesDigest", .text(digest)), ("storedDigest", .optional(metadata.versionHashesDigest)),
      ("versionIdentifiers", .texts(metadata.versionIdentifiers)), ("modelSource", .text(look.origin.rawValue)),
      ("versionName", .optional(look.versionName)), ("configuration", .optional(look.configuration)),
      ("frameworkVersion", .integer(Int64(metadata.frameworkVersion))),
      ("entities", .list(look.entities.map(Self.output))), ("warnings", .texts(look.notes)),
      ("deferred", .texts(look.deferred)),
      ("model", look.model.map { ModelText(model: $0).output } ?? .null),
    ]
    report.lines = head(style) + [""] + table()
    if showsModel, let model = look.model { report.lines += ModelText(model: model).lines(style) }
    return report
  }

  private static func output(_ entity: StoreLook.Entity) -> OutputValue {
    .object([
      ("name", .text(entity.name)), ("superentity", .optional(entity.superentity)),
      ("versionHash", .optional(entity.versionHash?.description)),
      ("storedHash", .optional(entity.storedHash?.description)), ("rows", .optional(entity.rows)),
    ])
  }

  private func head(_ style: TextStyle) -> [String] {
    let metadata = look.metadata
    let writer = metadata.generation == nil ? "Core Data" : "Heirloom"
    let framework = metadata.frameworkVersion == 0 ? "" : ", framework version \(metadata.frameworkVersion)"
    var lines = [
      "\(style.bold(look.path)): a Core Data store",
      "  holds        \(counted(look.rowCount, "object")) in \(counted(Int64(look.entities.count), "entity"))"
        + (look.hasLog ? ", some perhaps only in its -wal file" : ""),
      "  model        \(modelWords)",
      "  hashes       \(hashWords(style))",
      "  checksum     \(comparison(checksum, stored: metadata.versionChecksum, style))",
      "  digest       \(comparison(digest, stored: metadata.versionHashesDigest, style))",
      "  written by   \(writer)\(framework)",
      "  identifier   \(metadata.identifier)",
    ]
    if !metadata.versionIdentifiers.isEmpty {
      lines.append("  identifiers  \(listText(metadata.versionIdentifiers)) (of the model's version)")
    }
    if !look.deferred.isEmpty {
      lines.append("  left         \(listText(look.deferred, limit: 6)) (a deferred migration cleans up later)")
    }
    for note in look.notes { lines.append(style.yellow("  note: ") + sentence(note)) }
    return lines
  }

  private var modelWords: String {
    let version = look.versionName.map { "the version \"\($0)\"" } ?? "its version"
    let configuration = look.configuration.map { ", configuration \"\($0)\"" } ?? ""
    return switch look.origin {
    case .snapshot: "\(version), from the snapshot beside it\(configuration)"
    case .file: "\(version), from the file that was given\(configuration)"
    case .cache: "from the store's own copy\(configuration)"
    case .none: "none found that fits; give it with --model. The hashes are those of the metadata."
    }
  }

  private func hashWords(_ style: TextStyle) -> String {
    guard look.model != nil else { return "\(look.entities.count) stored, none computed" }
    let words = "\(equalCount) of \(look.entities.count) computed hashes equal the stored ones"
    return equalCount == look.entities.count ? words : style.red(words)
  }

  private func comparison(_ computed: String, stored: String?, _ style: TextStyle) -> String {
    guard let stored else { return "\(computed) (none is stored)" }
    return stored == computed
      ? "\(computed) (equals the stored one)" : style.red("\(computed) (the stored one is \(stored))")
  }

  private func table() -> [String] {
    var table = TextTable(
      header: ["Entity", "Parent", "Objects", "Version hash"], alignments: [.left, .left, .right, .left])
    for entity in look.entities {
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
