import Foundation
import Heirloom
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Stores that SwiftData made: composite columns, history tables, a `-wal` that holds nearly everything.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SwiftDataTests {
  static let paths: [String] = Corpus.storePaths.filter { $0.hasPrefix("metacocktails-swiftdata/") }

  private static func model(of store: URL) throws -> ManagedObjectModel {
    try #require(try StoreModelCache.model(inStoreAt: store))
  }

  @Test(arguments: paths)
  func `is verified without findings, and every value of every object is read`(path: String) throws {
    try Corpus.withCopy(of: path) { url in
      #expect(try StoreVerification.report(onStoreAt: url.path).findings.isEmpty)
      let model = try Self.model(of: url)
      let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
      let context = ManagedObjectContext(store: store)
      var (objects, composites) = (0, 0)
      for entity in model.entities where !entity.isAbstract {
        for object in try context.fetch(entity.name) {
          objects += 1
          for attribute in model.attributes(of: entity.name) {
            let value = try object.value(forAttribute: attribute.name)
            guard attribute.composite != nil else { continue }
            let columns = store.schema.columns(ofAttribute: attribute.name, in: entity.name)
            let leaves = try columns.compactMap { column in
              try object.value(forAttribute: column.path.joined(separator: ".")).map { (column.path.last ?? "", $0) }
            }
            // Codable values of this app are not nested.
            #expect(value?.elements ?? [:] == Dictionary(leaves) { _, _ in .integer(0) })
            composites += leaves.isEmpty ? 0 : 1
          }
        }
      }
      #expect(objects > 2_500)
      #expect(composites > 100)
      // One fetch is by an element and one by the whole.
      let entity = try #require(model.entities.first { $0.attributes.contains { $0.composite != nil } })
      for attribute in entity.attributes {
        guard let element = attribute.composite?.elements.first(where: { $0.type == .string }) else { continue }
        let all = try context.count(ObjectFetchRequest(entity.name))
        let none = try context.count(ObjectFetchRequest(entity.name, where: "\(attribute.name) == nil"))
        let some = try context.count(ObjectFetchRequest(entity.name, where: "\(attribute.name) != nil"))
        #expect(none + some == all)
        var request = try ObjectFetchRequest(entity.name, where: "\(attribute.name).\(element.name) != nil")
        request.sortDescriptors = [SortDescription(keyPath: "\(attribute.name).\(element.name)", ascending: true)]
        let texts = try context.fetch(request).compactMap { try $0.string("\(attribute.name).\(element.name)") }
        #expect(texts == texts.sorted { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) })
        let text = try #require(texts.first)
        let found = try context.fetch(
          ObjectFetchRequest(entity.name, where: "\(attribute.name).\(element.name) == %@", text))
        #expect(found.count == texts.prefix { $0 == text }.count)
      }
    }
  }

  @Test(arguments: paths, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `migrates to a model with more attributes and elements, and keeps history`(
    path: String, builder: BuilderChoice
  ) throws {
    try Corpus.withCopy(of: path) { url in
      let before = try Self.model(of: url)
      let objects = try StoreContents(of: url, model: before)
      let history = try OtherTables(of: url, model: before)
      #expect(Set(history.names).isSuperset(of: ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]))
      var entities = before.entities
      let index = try #require(entities.firstIndex { $0.attributes.contains { $0.composite != nil } })
      let place = try #require(entities[index].attributes.firstIndex { $0.composite != nil })
      let composite = entities[index].attributes[place].name
      let note = Make.attribute("heirloomNote", optional: false, value: .string("new"))
      entities[index].attributes[place].composite?.elements.append(note)
      let rating = Make.attribute("heirloomRating", .integer16, optional: false, value: .integer(3))
      entities[index].attributes.append(rating)
      let after = try ManagedObjectModel(
        entities: entities, versionIdentifiers: ["1.1.0"], configurations: before.configurations)
      let assistant = MigrationAssistant(url, ModelHistory(current: after), builder: builder)
      let report = try assistant.migrate()
      #expect(report.plan.losses.isEmpty && report.plan.blockers.isEmpty)
      #expect(try OtherTables(of: url, model: after) == history)
      #expect(try StoreVerification.report(onStoreAt: url.path).findings.isEmpty)
      var expected = objects
      for (key, object) in objects.objects[entities[index].name] ?? [:] {
        var object = object
        object.values["\(composite).heirloomNote"] = .text("new")
        object.values["heirloomRating"] = .integer(3)
        expected.objects[entities[index].name]?[key] = object
      }
      #expect(try StoreContents(of: url, model: after) == expected)
    }
  }
}
