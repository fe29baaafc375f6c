import Foundation
import Heirloom
import TestSupport

/// A small app whose models differ in one thing each.
enum Notebook {
  /// Notes with a title and perhaps a mood.
  static func first() throws -> ManagedObjectModel {
    try model()
  }

  static func adding() throws -> ManagedObjectModel {
    try model { $0.attributes.append(optional("rating", .integer64)) }
  }

  static func dropping() throws -> ManagedObjectModel {
    try model { $0.attributes.removeAll { $0.name == "mood" } }
  }

  /// No note has the value.
  static func requiring() throws -> ManagedObjectModel {
    try model { $0.attributes.append(AttributeDescription(name: "author", type: .string)) }
  }

  /// No note has the date.
  static func dating() throws -> ManagedObjectModel {
    try model { $0.attributes.append(AttributeDescription(name: "created", type: .date)) }
  }

  /// Two changes of type that can't be inferred, to see both reported.
  static func converting() throws -> ManagedObjectModel {
    try model { note in
      note.attributes[0].type = .integer64
      note.attributes[1].type = .date
    }
  }

  private static func model(_ change: (inout EntityDescription) -> Void = { _ in }) throws -> ManagedObjectModel {
    var note = Make.entity("Note", [AttributeDescription(name: "title", type: .string), optional("mood", .string)])
    change(&note)
    return try ManagedObjectModel(entities: [note])
  }

  private static func optional(_ name: String, _ type: AttributeType) -> AttributeDescription {
    Make.attribute(name, type)
  }

  /// Returns the path of the snapshot.
  static func write(_ model: ManagedObjectModel, _ name: String, in directory: TemporaryDirectory) throws -> String {
    let url = directory.file(name + ".json")
    try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable).write(to: url)
    return url.path
  }

  /// Every other note has a mood.
  ///
  /// With `archives`, the model is beside the store and in it; otherwise only those who have the
  /// model know it.
  static func makeStore(
    in directory: TemporaryDirectory, count: Int = 1234, archives: Bool = true, name: String = "Notebook.sqlite"
  ) throws -> URL {
    let url = directory.file(name)
    let model = try first()
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    for number in 0..<count {
      let note = try context.insert("Note")
      try note.setValue(.string("note \(number)"), forAttribute: "title")
      if number.isMultiple(of: 2) { try note.setValue(.string("merry"), forAttribute: "mood") }
    }
    try context.save()
    if !archives { try store.connection.execute("DELETE FROM Z_MODELCACHE") }
    try store.close()
    if archives { try ModelController(storeURL: url).archive(model) }
    return url
  }

  /// As an app does whose model no mapping can be inferred to.
  static func setAside(_ store: URL) throws -> MigrationNotice {
    let app = MigrationAssistant(store, ModelHistory(current: try converting()), .init(incompatibleStore: .setAside))
    guard case .setAside(let notice) = try app.migrateStore() else { throw CocoaError(.featureUnsupported) }
    return notice
  }
}
