import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Composite attributes that change, or become ordinary ones or the reverse: in SQL by both builders, and by object.
struct CompositeMigrationTests {
  typealias Row = [String: AttributeValue]

  private static func composite(
    _ name: String, id: String? = nil, optional: Bool = true, _ elements: AttributeDescription...
  ) -> AttributeDescription {
    Make.composite(name, elements, optional: optional, id: id)
  }

  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [Make.entity("Aircraft", attributes + [Make.attribute("tail")])])
  }

  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: [AttributeDescription]
    let after: [AttributeDescription]
    let rows: [Row]
    let result: [Row]
    var losses: [String: Int64] = [:]
    var given: [PropertyMapping] = []
  }

  private static let scheme = composite("scheme", Make.attribute("primary"), Make.attribute("width", .integer16))
  private static let plain = [Make.attribute("paint"), Make.attribute("trim"), Make.attribute("width", .integer16)]
  private static let schemeRows: [Row] = [
    ["scheme": .composite(["primary": .string("red"), "width": .integer(3)])],
    ["scheme": .composite(["primary": .string("blue")])], [:],
  ]
  private static let plainRows: [Row] = [
    ["paint": .string("red"), "trim": .string("gold"), "width": .integer(3)], ["paint": .string("blue")], [:],
  ]

  static let changes: [Change] = [
    Change(
      testDescription: "element added with a default", before: [scheme],
      after: [
        composite(
          "scheme", Make.attribute("primary"), Make.attribute("finish", value: .string("matt")),
          Make.attribute("width", .integer16))
      ], rows: schemeRows,
      result: [
        ["scheme": .composite(["primary": .string("red"), "width": .integer(3), "finish": .string("matt")])],
        ["scheme": .composite(["primary": .string("blue"), "finish": .string("matt")])],
        ["scheme": .composite(["finish": .string("matt")])],
      ]),
    Change(
      testDescription: "element removed", before: [scheme], after: [composite("scheme", Make.attribute("primary"))],
      rows: schemeRows,
      result: [
        ["scheme": .composite(["primary": .string("red")])], ["scheme": .composite(["primary": .string("blue")])], [:],
      ], losses: ["scheme.width": 1]),
    Change(
      testDescription: "element and composite renamed, element converted", before: [scheme],
      after: [
        composite(
          "colours", id: "scheme", Make.attribute("main", id: "primary"), Make.attribute("width", .double))
      ], rows: schemeRows,
      result: [
        ["colours": .composite(["main": .string("red"), "width": .double(3)])],
        ["colours": .composite(["main": .string("blue")])], [:],
      ]),
    Change(
      testDescription: "attributes become elements, one of them nested", before: plain,
      after: [
        composite(
          "scheme", Make.attribute("finish", value: .string("matt")), Make.attribute("primary"),
          composite(
            "stripe", Make.attribute("colour"), Make.attribute("count", .integer32), Make.attribute("width", .double)))
      ], rows: plainRows,
      result: [
        [
          "scheme": .composite([
            "finish": .string("matt"), "primary": .string("red"),
            "stripe": .composite(["colour": .string("GOLD"), "count": .integer(2), "width": .double(3)]),
          ])
        ],
        [
          "scheme": .composite([
            "finish": .string("matt"), "primary": .string("blue"), "stripe": .composite(["count": .integer(2)]),
          ])
        ],
        ["scheme": .composite(["finish": .string("matt"), "stripe": .composite(["count": .integer(2)])])],
      ],
      given: [
        PropertyMapping("scheme.primary", copying: "paint"),
        PropertyMapping("scheme.stripe.colour", expression: "uppercase:(trim)"),
        PropertyMapping("scheme.stripe.count", constant: .integer(2)),
        PropertyMapping("scheme.stripe.width", copying: "width"),
      ]),
    Change(
      testDescription: "elements become attributes", before: [scheme], after: plain, rows: schemeRows,
      result: [
        ["paint": .string("red"), "trim": .string("red!"), "width": .integer(3)],
        ["paint": .string("blue"), "trim": .string("blue!")], [:],
      ],
      given: [
        PropertyMapping("paint", copying: "scheme.primary"),
        PropertyMapping(
          "trim",
          expression:
            "TERNARY(scheme == nil, nil, FUNCTION($source.scheme.primary, 'stringByAppendingString:', '!'))"),
        PropertyMapping("width", expression: "scheme.width"),
      ]),
    Change(
      testDescription: "an attribute reads one element, the other is lost", before: [scheme],
      after: [Make.attribute("paint")], rows: schemeRows,
      result: [["paint": .string("RED")], ["paint": .string("BLUE")], [:]], losses: ["scheme.width": 1],
      given: [PropertyMapping("paint", expression: "uppercase:(scheme.primary)")]),
    Change(
      testDescription: "an attribute becomes a composite of the same name", before: [Make.attribute("scheme")],
      after: [scheme], rows: [["scheme": .string("red")], [:]],
      result: [["scheme": .composite(["primary": .string("red")])], [:]],
      given: [PropertyMapping("scheme.primary", copying: "scheme")]),
    Change(
      testDescription: "a composite becomes an attribute of the same name", before: [scheme],
      after: [Make.attribute("scheme")], rows: schemeRows,
      result: [["scheme": .string("red")], ["scheme": .string("blue")], [:]], losses: ["scheme.width": 1],
      given: [PropertyMapping("scheme", copying: "scheme.primary")]),
    Change(
      testDescription: "a composite goes into another, and one of its elements elsewhere", before: [scheme],
      after: [
        composite(
          "all", Make.attribute("first"),
          composite("inner", Make.attribute("primary"), Make.attribute("width", .integer32)))
      ], rows: schemeRows,
      result: [
        [
          "all": .composite([
            "first": .string("red"), "inner": .composite(["primary": .string("x"), "width": .integer(3)]),
          ])
        ], ["all": .composite(["first": .string("blue"), "inner": .composite(["primary": .string("x")])])],
        ["all": .composite(["inner": .composite(["primary": .string("x")])])],
      ],
      given: [
        PropertyMapping("all.inner", copying: "scheme"), PropertyMapping("all.inner.primary", constant: .string("x")),
        PropertyMapping("all.first", copying: "scheme.primary"),
      ]),
    Change(
      testDescription: "a composite copied under another name, or given a value", before: [scheme],
      after: [
        composite("one", Make.attribute("primary"), Make.attribute("width", .integer16)),
        composite("two", Make.attribute("primary"), composite("in", Make.attribute("x", .double))),
      ], rows: [schemeRows[0]],
      result: [
        [
          "one": .composite(["primary": .string("red"), "width": .integer(3)]),
          "two": .composite(["primary": .string("y"), "in": .composite(["x": .double(2)])]),
        ]
      ],
      given: [
        PropertyMapping("one", copying: "scheme"),
        PropertyMapping("two", constant: .composite(["primary": .string("y"), "in": .composite(["x": .integer(2)])])),
      ]),
    Change(
      testDescription: "a composite that an expression chooses", before: [scheme, Make.attribute("isOld", .boolean)],
      after: [composite("one", Make.attribute("primary"), Make.attribute("width", .double))],
      rows: schemeRows.map { $0.merging(["isOld": .boolean($0.isEmpty)]) { first, _ in first } },
      result: [
        ["one": .composite(["primary": .string("red"), "width": .double(3)])],
        ["one": .composite(["primary": .string("blue")])], [:],
      ], given: [PropertyMapping("one", expression: "TERNARY(isOld == YES, nil, scheme)")]),
  ]

  // MARK: Running

  private static func makeStore(_ url: URL, _ model: ManagedObjectModel, _ rows: [Row]) throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    for (index, row) in rows.enumerated() {
      let object = try context.insert("Aircraft")
      for attribute in model.attributes(of: "Aircraft") {
        try object.setValue(row[attribute.name], forAttribute: attribute.name)
      }
      object["tail"] = .string("N\(index)")
    }
    try context.save()
  }

  /// The tails are left out, but must be in order.
  private static func rows(of url: URL, _ model: ManagedObjectModel) throws -> [Row] {
    let context = ManagedObjectContext(store: try PersistentStore.open(at: url, model: model))
    return try context.fetch("Aircraft").enumerated().map { index, object in
      #expect(object["tail"] == .string("N\(index)"))
      var row: Row = [:]
      for attribute in model.attributes(of: "Aircraft") where attribute.name != "tail" {
        row[attribute.name] = try object.value(forAttribute: attribute.name)
      }
      return row
    }
  }

  private static func migrate(
    _ store: URL, through models: [ManagedObjectModel], _ given: [EntityMapping] = [],
    builder: BuilderChoice = .automatic
  ) throws -> MigrationReport {
    var configuration = MigrationAssistant.Configuration()
    configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    let (first, last) = (try #require(models.first), try #require(models.last))
    if !given.isEmpty {
      configuration.mappings = [try MappingModel.inferred(from: first, to: last) { given }]
    }
    let outcome = try MigrationAssistant(
      store,
      ModelHistory(
        current: last, earlier: models.dropLast().enumerated().map { ("\($0.offset)", $0.element) }), configuration,
      builder: builder
    ).migrateStore()
    let report = try #require(outcome.report)
    return report
  }

  @Test(arguments: changes)
  func `both builders and the evaluation of each object make what is expected`(change: Change) throws {
    let directory = try TemporaryDirectory()
    let (before, after) = (try Self.model(change.before), try Self.model(change.after))
    for (name, builder, policy) in [
      ("rebuild", BuilderChoice.always(.rebuild), nil), ("alter", .always(.cloneAndAlter), nil),
      ("row", .automatic, "Standard"),
    ] {
      let store = directory.file("\(name).sqlite")
      try Self.makeStore(store, before, change.rows)
      let given =
        policy == nil && change.given.isEmpty
        ? []
        : [
          EntityMapping(from: "Aircraft", to: "Aircraft", policyNamed: policy) { change.given }
        ]
      let report = try Self.migrate(store, through: [before, after], given, builder: builder)
      #expect(try Self.rows(of: store, after) == change.result, "\(name)")
      #expect(try StoreVerification.report(onStoreAt: store.path).findings.isEmpty)
      guard policy == nil else { continue }
      let losses = report.plan.losses.map { ($0.property ?? "", $0.rows) }
      #expect(Dictionary(uniqueKeysWithValues: losses) == change.losses, "\(name)")
    }
    withExtendedLifetime(directory) {}
  }

  // MARK: Other ways

  private final class Painting: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let destination = try manager.createDestinationInstance(forSource: source, in: mapping)
      destination["scheme"] = .composite(
        ["primary": source["paint"], "width": source["width"]].compactMapValues { $0 })
    }
  }

  @Test func `a policy makes a composite of attributes`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (before, after) = (try Self.model(Self.plain), try Self.model([Self.scheme]))
    try Self.makeStore(store, before, Self.plainRows)
    _ = try Self.migrate(
      store, through: [before, after], [EntityMapping(from: "Aircraft", to: "Aircraft", policy: Painting.self)])
    #expect(try Self.rows(of: store, after) == Self.schemeRows)
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [false, true])
  func `a stage's code makes a composite of attributes, in a store that is opened by one call`(defers: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let models = try [
      Self.plain, Self.plain + [Self.composite("scheme", Make.attribute("primary"), Make.attribute("size"))],
      [
        Self.composite("scheme", Make.attribute("primary"), Make.attribute("size"))
      ],
    ].map { try Self.model($0) }
    try Self.makeStore(store, models[0], Self.plainRows)
    func reference(_ model: ManagedObjectModel) -> ManagedObjectModelReference {
      ManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum())
    }
    let painting = CustomMigrationStage(
      migratingFrom: reference(models[0]), to: reference(models[1]), label: "paint")
    painting.didMigrateHandler = { context in
      for object in try context.fetch("Aircraft") {
        object["scheme"] = .composite(["primary": object["paint"], "size": object["trim"]].compactMapValues { $0 })
      }
      try context.save()
    }
    var options = PersistentStoreOptions()
    options.defersLightweightMigration = defers
    options.stagedManager = try StagedMigrationManager([painting])
    let history = ModelHistory(current: models[2], name: "3", earlier: [("1", models[0]), ("2", models[1])])
    try PersistentStore.open(at: store, history: history, options: options).close()
    #expect(
      try Self.rows(of: store, models[2]) == [
        ["scheme": .composite(["primary": .string("red"), "size": .string("gold")])],
        ["scheme": .composite(["primary": .string("blue")])], [:],
      ])
    withExtendedLifetime(directory) {}
  }

  @Test func `a jump over versions makes what the steps make`() throws {
    let directory = try TemporaryDirectory()
    let models = try [
      [Self.scheme],
      [
        Self.composite(
          "scheme", Make.attribute("primary"), Make.attribute("width", .integer32),
          Make.attribute("finish", value: .string("matt")))
      ],
      [
        Self.composite(
          "colours", id: "scheme", Make.attribute("main", id: "primary"), Make.attribute("width", .double),
          Make.attribute("finish", value: .string("gloss")))
      ],
      [
        Self.composite(
          "colours", id: "scheme", Make.attribute("main", id: "primary"), Make.attribute("size", .double, id: "width"),
          Make.attribute("finish"), Self.composite("stripe", Make.attribute("count", .integer16, value: .integer(1))))
      ],
    ].map { try Self.model($0) }
    let last = try #require(models.last)
    let (jumped, stepped) = (directory.file("Jump.sqlite"), directory.file("Steps.sqlite"))
    for store in [jumped, stepped] { try Self.makeStore(store, models[0], Self.schemeRows) }
    _ = try Self.migrate(jumped, through: models)
    for index in 1..<models.count { _ = try Self.migrate(stepped, through: Array(models[index - 1...index])) }
    let expected = try Self.rows(of: stepped, last)
    #expect(try Self.rows(of: jumped, last) == expected)
    #expect(
      expected[0] == [
        "colours": .composite([
          "main": .string("red"), "size": .double(3), "finish": .string("matt"),
          "stripe": .composite(["count": .integer(1)]),
        ])
      ])
    withExtendedLifetime(directory) {}
  }

  static let mistakes: [(mapping: PropertyMapping, word: String)] = [
    (PropertyMapping("scheme.colour", copying: "paint"), "scheme.colour"),
    (PropertyMapping("scheme.primary.more", copying: "paint"), "scheme.primary.more"),
    (PropertyMapping("scheme.primary", copying: "colour"), "colour"),
    (PropertyMapping("scheme", copying: "paint"), "scheme"),
    (PropertyMapping("scheme.width", copying: "paint"), "width"),
    (PropertyMapping("scheme.primary", expression: "old.colour"), "old.colour"),
    (PropertyMapping("scheme.width", constant: .string("wide")), "scheme.width"),
    (PropertyMapping("scheme", constant: .composite(["depth": .integer(1)])), "scheme"),
    (PropertyMapping("scheme", constant: .composite(["width": .integer(40_000)])), "scheme"),
  ]

  @Test(arguments: mistakes)
  func `a mapping of elements that there aren't is refused by name, and the store stays`(
    mapping: PropertyMapping, word: String
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let before = try Self.model(Self.plain + [Self.composite("old", Make.attribute("x"))])
    let after = try Self.model([Self.scheme])
    try Self.makeStore(store, before, Self.plainRows)
    let bytes = try Data(contentsOf: store)
    let error = #expect(throws: (any Error).self) {
      try Self.migrate(
        store, through: [before, after], [EntityMapping(from: "Aircraft", to: "Aircraft") { [mapping] }])
    }
    #expect("\(try #require(error))".contains(word))
    #expect(try Data(contentsOf: store) == bytes)
    withExtendedLifetime(directory) {}
  }
}
