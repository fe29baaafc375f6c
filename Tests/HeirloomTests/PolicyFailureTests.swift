import Foundation
import Heirloom
import TestSupport
import Testing

/// Policies and mappings that make mistakes: each ends in an error that says where, and the store has not changed.
struct PolicyFailureTests {
  struct OwnError: Error, Equatable {}

  final class Failing: EntityMigrationPolicy {
    private func fail(_ hook: MigrationHook, _ mapping: EntityMapping) throws {
      if mapping.userInfo["hook"] == hook.rawValue { throw OwnError() }
    }

    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws { try fail(.begin, mapping) }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      if source.objectID?.primaryKey == 3 { try fail(.createDestinationInstances, mapping) }
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try fail(.endInstanceCreation, mapping)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      if destination.objectID?.primaryKey == 3 { try fail(.createRelationships, mapping) }
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try fail(.endRelationshipCreation, mapping)
    }

    override func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try fail(.performCustomValidation, mapping)
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { try fail(.end, mapping) }
  }

  final class Mistaken: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let context = manager.destinationContext
      guard source.objectID?.primaryKey == 3 else {
        return try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      }
      switch mapping.userInfo["mistake"] {
      case "associates twice":
        let object = try manager.createDestinationInstance(forSource: source, in: mapping)
        try manager.associate(source: source, destination: object, for: mapping)
      case "unknown entity": _ = try context.insert("Nothing")
      case "abstract entity": _ = try context.insert("Root")
      case "wrong type":
        let object = try manager.createDestinationInstance(forSource: source, in: mapping)
        object["size"] = .string("large")
      case "unknown property":
        let object = try manager.createDestinationInstance(forSource: source, in: mapping)
        object["colour"] = .string("red")
      case "forgets to associate": _ = try context.insert("Item")
      case "sides mixed up": try manager.associate(source: source, destination: source, for: mapping)
      case "changes the source": source["name"] = .string("other")
      case "unknown mapping":
        _ = try manager.destinationInstances(forEntityMappingNamed: "Nobody", sourceInstances: [source])
      case "leaves a required value out":
        let object = try manager.createDestinationInstance(forSource: source, in: mapping)
        object["name"] = nil
      case "wrong destination":
        let object = try manager.createDestinationInstance(forSource: source, in: mapping)
        object[toOne: "box"] = object
      default: Issue.record("no such mistake")
      }
    }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    var store: URL { directory.file("Store.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      let box = Make.entity("Box", [Make.attribute("label")], [Make.toMany("items", "Item", "box")])
      let link = Make.toOne("box", "Box", "items")
      source = try ManagedObjectModel(entities: [
        box, Make.entity("Item", [Make.attribute("name", optional: false)], [link]),
        Make.entity("Root", isAbstract: true), Make.entity("Leaf", parent: "Root"),
      ])
      destination = try ManagedObjectModel(entities: [
        box,
        Make.entity("Item", [Make.attribute("name", optional: false), Make.attribute("size", .integer32)], [link]),
        Make.entity("Root", isAbstract: true), Make.entity("Leaf", parent: "Root"),
      ])
      try PersistentStore.make(at: store, model: source) { context in
        for number in 1...5 {
          let object = try context.insert("Item")
          object["name"] = .string("item \(number)")
          let box = try context.insert("Box")
          object[toOne: "box"] = box
        }
      }
    }

    func migrate(_ given: EntityMapping, policies: MigrationPolicyRegistry = .init()) throws -> MigrationError? {
      var configuration = MigrationAssistant.Configuration()
      configuration.policies = policies
      configuration.mappings = [
        try MappingInference(from: source, to: destination, given: [given]).mappingModel()
      ]
      let assistant = MigrationAssistant(store, from: source, to: destination, configuration)
      let before = try StoreContents(of: store, model: source)
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(try StoreContents(of: store, model: source) == before)
      let folder = store.path + ".heirloom"
      let left = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
      #expect(!left.contains { $0.hasPrefix("incoming/") || $0.hasPrefix("previous/") || $0 == "manifest.json" })
      guard case .failed(_, let failure)? = error else { return nil }
      return failure
    }
  }

  @Test(arguments: MigrationHook.allCases) func `an error of a hook names the mapping, the hook and the object`(
    hook: MigrationHook
  ) throws {
    let scene = try Scene()
    let error = try scene.migrate(
      EntityMapping(from: "Item", to: "Item", policy: Failing.self, userInfo: ["hook": hook.rawValue]))
    guard case .mappingFailed(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.hook == hook)
    #expect(failure.mapping == "Item->Item")
    #expect(failure.entity == "Item")
    #expect(failure.underlying is OwnError)
    let isOfAnObject = hook == .createDestinationInstances || hook == .createRelationships
    #expect(failure.object?.primaryKey == (isOfAnObject ? 3 : nil))
  }

  @Test(arguments: [
    "associates twice", "unknown entity", "abstract entity", "wrong type", "unknown property", "forgets to associate",
    "sides mixed up", "changes the source", "unknown mapping", "wrong destination",
  ])
  func `a mistake is told with the mapping, the hook and the object`(mistake: String) throws {
    let scene = try Scene()
    let error = try scene.migrate(
      EntityMapping(from: "Item", to: "Item", policy: Mistaken.self, userInfo: ["mistake": mistake]))
    guard case .mappingFailed(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.hook == .createDestinationInstances)
    #expect(failure.mapping == "Item->Item")
    #expect(failure.object?.primaryKey == 3)
    #expect(failure.underlying is MigrationManagerError || failure.underlying is ManagedObjectError)
  }

  @Test func `a required value that is left out is told with its object`() throws {
    let scene = try Scene()
    let error = try scene.migrate(
      EntityMapping(
        from: "Item", to: "Item", policy: Mistaken.self, userInfo: ["mistake": "leaves a required value out"]))
    guard case .mappingFailed(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      failure.underlying as? MigrationManagerError
        == .missingValue(entity: "Item", property: "name", primaryKey: 3))
  }

  @Test func `a policy that nobody registered is named with those that are known`() throws {
    let scene = try Scene()
    var policies = MigrationPolicyRegistry()
    policies.register(Failing.self)
    let error = try scene.migrate(EntityMapping(from: "Item", to: "Item", policyNamed: "Unheard"), policies: policies)
    guard case .unknownPolicies(let names, let known)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(names == ["Unheard"])
    #expect(known == ["Failing"])
  }

  @Test(arguments: [
    ("FUNCTION($entityPolicy, \"unheard:\", $source.name)", "unheard:"), ("$source.name * 2", "size"),
    ("$source.name", "size"),
  ])
  func `an expression that can't be evaluated is told with the object`(expression: String, names: String) throws {
    let scene = try Scene()
    let mapping = EntityMapping(
      from: "Item", to: "Item", policy: EntityMigrationPolicy.self,
      attributeMappings: [
        // It is not a plain copy, which would be refused for its types.
        PropertyMapping(
          name: "size",
          valueExpression: try ValueExpression(parsing: "TERNARY(TRUEPREDICATE, \(expression), nil)"))
      ])
    let error = try scene.migrate(mapping)
    guard case .mappingFailed(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.hook == .createDestinationInstances)
    #expect(failure.object?.primaryKey == 1)
    #expect("\(failure)".contains(names), "\(failure)")
  }

  @Test(arguments: ["$nobody", "$source.nothing", "$source.box.nothing", "unheard:($source.name)"])
  func `an expression that can have no value is refused before anything is made`(expression: String) throws {
    let scene = try Scene()
    let mapping = EntityMapping(
      from: "Item", to: "Item",
      attributeMappings: [
        PropertyMapping(
          name: "size", valueExpression: try ValueExpression(parsing: "TERNARY(TRUEPREDICATE, \(expression), nil)"))
      ])
    let error = try scene.migrate(mapping)
    guard case .invalidExpression(let found)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found.mapping == "Item->Item")
    #expect(found.property == "size")
  }
}
