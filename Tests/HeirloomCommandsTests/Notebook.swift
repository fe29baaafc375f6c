import Foundation
import Heirloom
import TestSupport

/// A small app whose models differ in one thing each.
enum Notebook {
  /// Makes the first version: notes with a title and perhaps a mood.
  static func first() throws -> ManagedObjectModel {
    try model()
  }

  /// Makes a version with one more optional attribute.
  static func adding() throws -> ManagedObjectModel {
    try model { $0.attributes.append(optional("rating", .integer64)) }
  }

  /// Makes a version without moods.
  static func dropping() throws -> ManagedObjectModel {
    try model { $0.attributes.removeAll { $0.name == "mood" } }
  }

  /// Makes a version that requires a value that no note has.
  static func requiring() throws -> ManagedObjectModel {
    try model { $0.attributes.append(AttributeDescription(name: "author", type: .string)) }
  }

  /// Makes a version that requires a date that no note has.
  static func dating() throws -> ManagedObjectModel {
    try model { $0.attributes.append(AttributeDescription(name: "created", type: .date)) }
  }

  /// Makes a version with two changes of type that can't be inferred, to see both reported.
  static func converting() throws -> ManagedObjectModel {
    try model { note in
      note.attributes[0].type = .integer64
      note.attributes[1].type = .date
    }
  }

  private static func model(_ change: (inout EntityDescription) -> Void = { _ in }) throws -> ManagedObjectModel {
    var note = EntityDescription(name: "Note")
    note.attributes = [AttributeDescription(name: "title", type: .string), optional("mood", .string)]
    change(&note)
    return try ManagedObjectModel(entities: [note])
  }

  private static func optional(_ name: String, _ type: AttributeType) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    return attribute
  }

  /// Writes a model as a snapshot and returns the file's path.
  static func write(_ model: ManagedObjectModel, _ name: String, in directory: TemporaryDirectory) throws -> String {
    let url = directory.file(name + ".json")
    try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable).write(to: url)
    return url.path
  }

  /// Makes a store of the first version: every other note has a mood.
  ///
  /// - Parameters:
  ///   - directory: The folder.
  ///   - count: The number of notes.
  ///   - archives: True if the model is beside the store and in it; otherwise only those who have the model know it.
  ///   - name: The file's name.
  /// - Returns: The store's location.
  /// - Throws: The error that keeps the store from being made.
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

  /// Moves a store aside, as an app does whose model no mapping can be inferred to.
  static func setAside(_ store: URL) throws -> MigrationNotice {
    var configuration = MigrationAssistant.Configuration()
    configuration.incompatibleStore = .setAside
    let app = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store),
      history: ModelHistory(current: try converting()), configuration: configuration)
    guard case .setAside(let notice) = try app.migrateStore() else { throw CocoaError(.featureUnsupported) }
    return notice
  }
}
