package import Foundation
package import Heirloom
package import HeirloomStore

extension PersistentStore {
  /// Makes a store with the objects that `fill` inserts.
  package static func make(
    at url: URL, model: ManagedObjectModel, fill: (ManagedObjectContext) throws -> Void
  ) throws {
    let store = try create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    try fill(context)
    try context.save()
    try store.close()
  }
}

extension Connection {
  package convenience init(reading url: URL, options: Options = Options()) throws {
    try self.init(path: url.path, mode: .readOnly, options: options)
  }

  /// Changes a database as another program might, by a connection of its own.
  package static func execute(_ statements: String..., on path: String, options: Options = Options()) throws {
    let connection = try Connection(path: path, mode: .readWrite, options: options)
    for sql in statements { try connection.execute(sql) }
    try connection.close()
  }
}
