import Foundation
import Heirloom
import TestSupport
import Testing

/// The parts that a mapping leaves out: a file drops them, as Core Data does; Swift leaves them to inference.
struct MappingFileTests {
  enum Way: CaseIterable {
    case file, fileOfDelegate, inferred, delegate

    var isFile: Bool { self == .file || self == .fileOfDelegate }
  }

  /// The statement of the mapping about the property or entity in question.
  enum Form: CaseIterable {
    case named, unnamed, withoutExpression
  }

  enum Subject: CaseIterable {
    case attribute, relationship, inverseOnly, entity
  }

  private static func model(isNew: Bool) throws -> ManagedObjectModel {
    let stars = Make.attribute("stars", .integer16, value: isNew ? .integer(3) : nil)
    let added = isNew ? [Make.attribute("added", .integer16, optional: false, value: .integer(7))] : []
    return try ManagedObjectModel(entities: [
      Make.entity("Folder", [Make.attribute("name")], [Make.toMany("notes", "Note", "folder")]),
      Make.entity(
        "Note", added + [stars, Make.attribute("title")], [Make.toOne("folder", "Folder", "notes")]),
      Make.entity("Tag", [Make.attribute("name")]),
    ])
  }

  /// Everything but the subject is mapped.
  private static func mappings(_ subject: Subject, _ form: Form) -> [EntityMapping] {
    func say(_ mapping: PropertyMapping, _ own: Subject...) -> [PropertyMapping] {
      guard own.contains(subject) else { return [mapping] }
      return form == .named ? [mapping] : form == .unnamed ? [] : [PropertyMapping(mapping.name)]
    }
    let folder = EntityMapping(
      from: "Folder", to: "Folder", attributeMappings: [PropertyMapping("name", copying: "name")],
      relationshipMappings: say(PropertyMapping("notes", linksOf: "notes"), .relationship))
    let note = EntityMapping(
      from: "Note", to: "Note",
      attributeMappings: [PropertyMapping("added"), PropertyMapping("title", copying: "title")]
        + say(PropertyMapping("stars", copying: "stars"), .attribute),
      relationshipMappings: say(PropertyMapping("folder", linksOf: "folder"), .relationship, .inverseOnly))
    let tag = EntityMapping(from: "Tag", to: "Tag", attributeMappings: [PropertyMapping("name", copying: "name")])
    guard subject == .entity, form != .named else { return [folder, note, tag] }
    // Without an expression, the only thing to do with an entity is to remove it.
    return form == .unnamed ? [folder, note] : [folder, note, EntityMapping(from: "Tag", to: nil)]
  }

  private static func makeStore(at url: URL, _ model: ManagedObjectModel) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    let folders = try (0..<2).map { number in
      let folder = try context.insert("Folder")
      folder["name"] = .string("folder \(number)")
      return folder
    }
    for number in 0..<5 {
      let note = try context.insert("Note")
      note["title"] = .string("note \(number)")
      if number > 0 { note["stars"] = .integer(Int64(number * 10)) }
      if number < 3 { note[toOne: "folder"] = folders[number % 2] }
      let tag = try context.insert("Tag")
      tag["name"] = .string("tag \(number)")
    }
    try context.save()
    try store.close()
  }

  private static func cases() -> [(Subject, Form, Way)] {
    Subject.allCases.flatMap { subject in Form.allCases.flatMap { form in Way.allCases.map { (subject, form, $0) } } }
  }

  @Test(arguments: cases())
  func `a file drops what it doesn't name, and Swift goes on inferring it`(
    subject: Subject, form: Form, way: Way
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = (try Self.model(isNew: false), try Self.model(isNew: true))
    try Self.makeStore(at: store, source)
    let mappings = Self.mappings(subject, form)
    let file = directory.file("Mapping.cdm")
    try Data(MappingArchiveWriter.archive(MappingModel(entityMappings: mappings))).write(to: file)

    var configuration = MigrationAssistant.Configuration()
    var given: MappingModel?
    switch way {
    case .file: configuration.mappings = [try MappingModel(contentsOf: file)]
    case .fileOfDelegate: given = try MappingModel(contentsOf: file)
    case .inferred: configuration.mappings = [try MappingModel.inferred(from: source, to: destination) { mappings }]
    case .delegate: given = MappingModel(entityMappings: mappings)
    }
    configuration.infersMappingModel = given == nil
    let assistant = MigrationAssistant(store, from: source, to: destination, configuration)
    if let given { assistant.delegate = ClosureDelegate(mapping: { _, _, _ in given }) }
    let report = try assistant.migrate()

    let isLost = form == .withoutExpression || form == .unnamed && way.isFile
    var expected: [String] = []
    if isLost {
      switch subject {
      case .attribute: expected = ["Note.stars 4"]
      case .relationship: expected = ["Folder.notes 2", "Note.folder 3"]
      case .inverseOnly: break
      case .entity: expected = ["Tag 5"]
      }
    }
    #expect(
      report.plan.losses.map { "\($0.entity)\($0.property.map { ".\($0)" } ?? "") \($0.rows)" }.sorted() == expected)
    // If both models have it and the file says nothing, the plan asks whether that is meant.
    let isAsked = way.isFile && isLost && subject != .entity && subject != .inverseOnly
    #expect(report.plan.warnings.contains { $0.contains("of the mapping file has no value for") } == isAsked)

    let opened = try PersistentStore.open(at: store, model: destination, isReadOnly: true)
    let context = ManagedObjectContext(store: opened)
    for (number, note) in try context.fetch("Note").enumerated() {
      #expect(note["title"] == .string("note \(number)"))
      #expect(note["added"] == .integer(7))
      let stars: AttributeValue? = number > 0 ? .integer(Int64(number * 10)) : nil
      #expect(note["stars"] == (isLost && subject == .attribute ? .integer(3) : stars))
      let folder: AttributeValue? = number < 3 ? .string("folder \(number % 2)") : nil
      #expect(note[toOne: "folder"]?["name"] == (isLost && subject == .relationship ? nil : folder))
    }
    #expect(try context.fetch("Tag").count == (isLost && subject == .entity ? 0 : 5))
    try opened.close()
  }

  @Test func `what a source file lists without an expression is matched by name before renaming identifier`() throws {
    let source = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("color", id: "hue"), Make.attribute("old"), Make.attribute("unlisted")])
    ])
    let destination = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("color"), Make.attribute("new", id: "old"), Make.attribute("unlisted")])
    ])
    var mapping = EntityMapping(from: "A", to: "A")
    mapping.openProperties = EntityMapping.OpenProperties(attributes: ["color", "new"])
    let made = MappingModel(entityMappings: [mapping]).completed(from: source, to: destination)
    let properties = try #require(made.entityMappings.first)
    #expect(properties.attributeMapping(named: "color")?.form == .attribute("color"))
    #expect(properties.attributeMapping(named: "new")?.form == .attribute("old"))
    #expect(properties.attributeMapping(named: "unlisted")?.form == .defaultValue)
    #expect(made.completed(from: source, to: destination) == made)
    mapping.openProperties = EntityMapping.OpenProperties(attributes: ["gone"], relationships: ["gone"])
    let mismatches = MappingModel(entityMappings: [mapping]).mismatches(from: source, to: destination)
    #expect(
      mismatches.map(\.problem) == [
        .unknownAttribute(entity: "A", attribute: "gone"), .unknownRelationship(entity: "A", relationship: "gone"),
      ])
  }

  @Test func `a warning names what is left to a policy`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = (try Self.model(isNew: false), try Self.model(isNew: true))
    try Self.makeStore(at: store, source)
    var mappings = Self.mappings(.relationship, .withoutExpression)
    mappings[1].attributeMappings.removeAll { $0.name == "title" }
    mappings[1].attributeMappings.append(PropertyMapping("title"))
    mappings[1].entityMigrationPolicyClassName = "P"
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [MappingModel(entityMappings: mappings)]
    configuration.policies.register(EntityMigrationPolicy.self, named: "P")
    let plan = try #require(
      try MigrationAssistant(store, from: source, to: destination, configuration).plan())
    #expect(
      plan.warnings.filter { $0.contains("policy") } == [
        #"no property mapping of "Note->Note" reads "title", "folder" of "Note"; values that the policy "P" doesn't read are lost"#
      ])
    // Whether they are lost is known only after the run.
    #expect(!plan.losses.contains { $0.entity == "Note" })
  }
}
