import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport

/// A model in a file, as the accountant reads it and as the product does.
struct ModelFolder {
  let name: String
  let xml: XMLModel
  /// For the product alone.
  let model: ManagedObjectModel

  init(path: String, named name: String) throws {
    self.name = name
    xml = try XMLModelReader.model(at: path)
    model = try ModelFile.read(path).model
  }

  init(_ xml: XMLModel, named name: String, in directory: TemporaryDirectory) throws {
    let folder = directory.file("\(name).xcdatamodel")
    try xml.write(to: folder)
    try self.init(path: folder.path, named: name)
  }

  func makeEmptyStore(at url: URL) throws {
    try PersistentStore.create(at: url, model: model).close()
  }
}
