import Foundation
import Heirloom
import HeirloomStore
import HeirloomModel

// make create STORE | migrate STORE FROM… TO | aside STORE
let arguments = CommandLine.arguments
let store = URL(fileURLWithPath: arguments[2])
func model(_ name: String) throws -> ManagedObjectModel {
  try ModelHistory(contentsOf: URL(fileURLWithPath: name)).current
}
switch arguments[1] {
case "create":
  let context = ManagedObjectContext(store: try PersistentStore.create(at: store, model: try model(arguments[3])))
  let tags = try (1...3).map { number in
    let tag = try context.insert("Tag")
    tag["name"] = .string("tag \(number)")
    tag["color"] = .string("color \(number)")
    return tag
  }
  for number in 1...6 {
    let note = try context.insert("Note")
    note["title"] = .string("title \((number + 1) / 2)")
    note["body"] = .string("body \(number)")
    if number > 2 { note["mood"] = .string("mood \(number)") }
    note[toMany: "tags"] = [tags[number % 3], tags[(number + 1) % 3]]
  }
  try context.save()
case "migrate", "aside":
  let names = Array(arguments[3...])
  let models = try names.map(model)
  var configuration = MigrationAssistant.Configuration()
  if arguments[1] == "aside" { configuration.incompatibleStore = .setAside }
  let assistant = MigrationAssistant(
    storeURL: store, modelController: ModelController(storeURL: store),
    history: ModelHistory(
      current: models[models.count - 1], name: "\(models.count)",
      earlier: models.dropLast().enumerated().map { ("\($0.offset + 1)", $0.element) }),
    configuration: configuration)
  print(try assistant.migrateStore())
  if arguments[1] == "migrate" { try assistant.modelController.archive(models[models.count - 1]) }
default: exit(2)
}
