import Foundation
import Heirloom

/// A model that the command line leads to, with what it is called.
struct NamedModel {
  /// The version's name.
  let name: String
  /// The model.
  let model: ManagedObjectModel
  /// What of its file was not understood.
  var warnings: [String] = []

  /// Creates a named model.
  init(name: String, model: ManagedObjectModel, warnings: [String] = []) {
    self.name = name
    self.model = model
    self.warnings = warnings
  }

  /// Reads the model at a path: that of a model's file or bundle, or the one that a store was made with.
  ///
  /// - Parameter path: The path.
  /// - Throws: `ModelReadingError`, `StoreError`, or a failure when a store has no model that fits.
  init(at path: String) throws {
    if case .database = PathKind(path) {
      let look = try StoreLook(at: path)
      guard let model = look.model else { throw look.modelIsMissing }
      self.init(name: URL(fileURLWithPath: path).lastPathComponent, model: model)
      return
    }
    let list = try ModelVersionList(path)
    guard let version = list.currentVersion else {
      throw ModelReadingError(path: path, problem: .notModel(.bundleWithoutVersions))
    }
    let read = try version.file.read()
    self.init(
      name: version.name, model: read.model, warnings: list.warnings + read.warnings.map(\.description))
  }

  /// Reads all versions at a path: those of a bundle, or one.
  ///
  /// - Parameters:
  ///   - path: The path of a model.
  ///   - console: Told of versions that can't be read.
  /// - Returns: The versions in their order.
  /// - Throws: `ModelReadingError` if there is none that can be read.
  static func all(at path: String, console: Console) throws -> [NamedModel] {
    let list = try ModelVersionList(path)
    var models: [NamedModel] = []
    for version in list.versions {
      do throws(ModelReadingError) {
        let read = try version.file.read()
        models.append(NamedModel(name: version.name, model: read.model, warnings: read.warnings.map(\.description)))
      } catch {
        // The version that was asked for must be readable; its sisters are a help only.
        if list.versions.count == 1 || version.name == list.currentVersionName { throw error }
        console.log("note: \(error.description)")
      }
    }
    return models
  }
}
