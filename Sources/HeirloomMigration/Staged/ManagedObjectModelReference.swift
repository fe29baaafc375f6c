public import Foundation
import HeirloomFormats
public import HeirloomModel

/// A version of a model in a migration stage, with its checksum as shipped.
///
/// The checksum detects accidental edits of a shipped model. A model that is given by its location is read only when a
/// store needs it.
public struct ManagedObjectModelReference: Sendable {
  /// The version checksum that the model must have: 44 characters of Base64.
  public let versionChecksum: String
  private let place: Place

  private enum Place: Sendable {
    case model(ManagedObjectModel)
    case file(URL)
    case name(String, resources: URL?)
    case hashes([String: VersionHash], resources: URL?)
  }

  /// Refers to a model in memory.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - versionChecksum: The checksum that the model must have.
  public init(model: ManagedObjectModel, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    place = .model(model)
  }

  /// Refers to a model by its location.
  ///
  /// - Parameters:
  ///   - fileURL: A model of any kind: `.xcdatamodel`, `.mom`, a snapshot; in a bundle of versions, its current one.
  ///   - versionChecksum: The checksum that the model must have.
  public init(fileURL: URL, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    place = .file(fileURL)
  }

  /// Refers to a model by the name of its version.
  ///
  /// - Parameters:
  ///   - name: The version's name: its file name without the extension.
  ///   - bundle: The bundle whose resources contain the model, alone or among other versions; `nil` for the main one.
  ///   - versionChecksum: The checksum that the model must have.
  public init(name: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(name: name, inFolder: (bundle ?? .main).resourceURL, versionChecksum: versionChecksum)
  }

  /// Refers to a model by the version hashes of its entities.
  ///
  /// - Parameters:
  ///   - entityVersionHashes: The hashes by entity name.
  ///   - bundle: The bundle whose resources contain the model, alone or among other versions; `nil` for the main one.
  ///   - versionChecksum: The checksum that the model must have.
  public init(entityVersionHashes: [String: VersionHash], in bundle: Bundle?, versionChecksum: String) {
    self.init(
      entityVersionHashes: entityVersionHashes, inFolder: (bundle ?? .main).resourceURL,
      versionChecksum: versionChecksum)
  }

  package init(name: String, inFolder folder: URL?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    place = .name(name, resources: folder)
  }

  package init(entityVersionHashes: [String: VersionHash], inFolder folder: URL?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    place = .hashes(entityVersionHashes, resources: folder)
  }

  /// Reads the model and verifies its checksum.
  ///
  /// - Returns: The model.
  /// - Throws: ``StagedMigrationError`` if the model can't be found or read, or differs from the shipped one.
  public func resolvedModel() throws(StagedMigrationError) -> ManagedObjectModel {
    let model = try found()
    let checksum = model.versionChecksum()
    guard checksum == versionChecksum else {
      throw StagedMigrationError([.editedModel(description, expected: versionChecksum, found: checksum)])
    }
    return model
  }

  private func found() throws(StagedMigrationError) -> ManagedObjectModel {
    switch place {
    case .model(let model): return model
    case .file(let url):
      do throws(ModelReadingError) {
        return try ModelFile.read(url.path).model
      } catch {
        throw StagedMigrationError([.unreadableModel(description, reason: error.description)])
      }
    case .name(let name, let folder):
      for list in Self.versionLists(in: folder) {
        guard let version = list.version(named: name) else { continue }
        do throws(ModelReadingError) {
          return try version.file.read().model
        } catch {
          throw StagedMigrationError([.unreadableModel(description, reason: error.description)])
        }
      }
    case .hashes(let hashes, let folder):
      // Unreadable versions are skipped: another one may be the model.
      for version in Self.versionLists(in: folder).flatMap(\.versions) {
        if let model = try? version.file.read().model, model.versionHashes() == hashes { return model }
      }
    }
    throw StagedMigrationError([
      .unreadableModel(description, reason: "the bundle's resources contain no model of that version")
    ])
  }

  /// A bundle of versions is one list.
  private static func versionLists(in folder: URL?) -> [ModelVersionList] {
    guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return [] }
    return names.ordered().compactMap { try? ModelVersionList(folder.appendingPathComponent($0).path) }
  }
}

extension ManagedObjectModelReference: CustomStringConvertible {
  /// A description of the model's location.
  public var description: String {
    switch place {
    case .model: "the model in memory with the checksum \(versionChecksum)"
    case .file(let url): "the model \(url.path)"
    case .name(let name, let folder): "the model \"\(name)\" in \(folder?.path ?? "a bundle without resources")"
    case .hashes(_, let folder): "the model with the given hashes in \(folder?.path ?? "a bundle without resources")"
    }
  }
}
