import Foundation
import Heirloom
import TestSupport
import Testing

extension AdviceTests {
  static let merged = [
    Situation("the other models of a merged one are given") { scene in
      let animals = try scene.makeMergedStore()
      scene.take(
        ["migrate", scene.store.path, "--to", scene.adding, "--model", scene.first], "--with", animals)
    },
    Situation("a merged store goes on without a part") { scene in
      _ = try scene.makeMergedStore()
      scene.take(
        ["migrate", scene.store.path, "--to", scene.adding, "--model", scene.first], "--accept-version",
        then: ["--accept-losses"])
    },
    Situation("the rest of a merged store's models is given") { scene in
      let animals = try scene.makeMergedStore(archives: false)
      let question = ["doctor", scene.store.path, "--model", scene.first]
      let asked = scene.tool.run(question)
      #expect(
        asked.output.contains(": made of \"1\" and of something that no given model has: Animal")
          && asked.output.contains("give the model that has the rest, too, with a further --model"), "\(asked)")
      let taken = scene.tool.run(question + ["--model", animals])
      #expect(taken.output.contains("model     made of \"1\" and \"Animals\", from"), "\(taken)")
      scene.run("migrate", scene.store.path, "--to", scene.first, "--with", animals)
    },
    Situation("what waits in a merged store is cleaned up") { scene in
      let animals = try scene.makeMergedStore()
      scene.run(
        "migrate", scene.store.path, "--to", scene.dropping, "--with", animals, "--model", scene.first, "--defer",
        "--accept-losses")
      try scene.followInShell(
        ["doctor", scene.store.path, "--model", scene.dropping, "--model", animals],
        ["heirloom migrate"])
    },
    Situation("a part's losses are acknowledged in its history") { scene in
      let animals = try scene.makeMergedStore()
      scene.ship(scene.first, scene.dropping)
      let question = ["migrate", scene.store.path, "--to", animals, "--with", scene.history]
      try scene.follow(question, "check")
      // From here on, one more release of both is needed.
      let outcome = scene.tool.run(["compare", scene.store.path, scene.dropping, "--json"])
      #expect(try outcome.json()["verdict"] as? String != "identical")
      try FileManager.default.removeItem(atPath: scene.history)
    },
  ]
}

extension AdviceScene {
  /// A store of the notebook's first model merged with one of animals, of which it has three.
  ///
  /// Returns the path of the model of the animals.
  func makeMergedStore(archives: Bool = true) throws -> String {
    let animals = try ManagedObjectModel(entities: [Make.entity("Animal", [Make.attribute("name")])])
    let model = try ManagedObjectModel(merging: [Notebook.first(), animals])
    let made = try PersistentStore.create(at: store, model: model)
    let context = ManagedObjectContext(store: made)
    for number in 0..<Self.rows {
      let note = try context.insert("Note")
      (note["title"], note["mood"]) = (.string("note \(number)"), .string("merry"))
    }
    for number in 0..<3 { try context.insert("Animal")["name"] = .string("animal \(number)") }
    try context.save()
    if !archives { try made.connection.execute("DELETE FROM Z_MODELCACHE") }
    try made.close()
    return try Notebook.write(animals, "It's here/Animals", in: directory)
  }
}
