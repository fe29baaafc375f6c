import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import TestSupport
import Testing

/// The skeleton's code for splits, compiled as it is written and run on sample rows.
@Suite(.enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
struct SkeletonRunTests {
  /// A split, with what a person would say of it.
  struct Split: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let models: @Sendable () throws -> (source: ManagedObjectModel, destination: ManagedObjectModel)
    let entity: String
    let part: String
    /// The attributes of the entity by those of the new one.
    let moves: [String: String]
    let link: (entity: String, name: String)
    /// True where objects with the same values have one object of the new entity.
    let isShared: Bool
    /// Binary attributes that are required now, which has nothing to do with the split.
    var filled: [String] = []
  }

  private static func corpus(
    _ bundle: String, _ first: String, _ second: String
  ) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func model(_ name: String) throws -> ManagedObjectModel {
      try Corpus.model(at: Corpus.folder.appendingPathComponent("\(bundle).xcdatamodeld/\(name).xcdatamodel").path)
    }
    return (try model(first), try model(second))
  }

  private static func flights(
    inverse: RelationshipDescription?, link: RelationshipDescription
  ) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    let number = Make.attribute("number", .integer64)
    let details = [Make.attribute("pilotName"), Make.attribute("pilotAge", .integer64)]
    return (
      try ManagedObjectModel(entities: [Make.entity("Flight", [number] + details)]),
      try ManagedObjectModel(entities: [
        Make.entity("Flight", [number], [link]),
        Make.entity("Pilot", [Make.attribute("age", .integer64), Make.attribute("name")], inverse.map { [$0] } ?? []),
      ])
    )
  }

  private static let splits: [Split] =
    [
      Split(
        testDescription: "many to one",
        models: {
          try flights(inverse: Make.toMany("flights", "Flight", "pilot"), link: Make.toOne("pilot", "Pilot", "flights"))
        }, entity: "Flight", part: "Pilot", moves: ["pilotName": "name", "pilotAge": "age"],
        link: ("Flight", "pilot"), isShared: true),
      Split(
        testDescription: "one to one",
        models: {
          try flights(inverse: Make.toOne("flight", "Flight", "pilot"), link: Make.toOne("pilot", "Pilot", "flight"))
        }, entity: "Flight", part: "Pilot", moves: ["pilotName": "name", "pilotAge": "age"],
        link: ("Pilot", "flight"), isShared: false),
    ]
    + (Corpus.isPresent
      ? [
        Split(
          testDescription: "JSQCoreDataKit",
          models: { try corpus("jsqcoredatakit/models/ExampleModel", "Version 2", "Version 3") },
          entity: "Employee", part: "Company",
          moves: ["companyDateFounded": "dateFounded", "companyName": "name", "companyProfits": "profits"],
          link: ("Employee", "company"), isShared: true),
        Split(
          testDescription: "OpenEmu",
          models: { try corpus("openemu/models/OEDatabase", "OEDatabase 1.3", "OEDatabase") },
          entity: "Image", part: "ImageThumbnail",
          moves: ["height": "height", "relativePath": "path", "width": "width"],
          link: ("ImageThumbnail", "image"), isShared: false, filled: ["ROM.bookmarkData"]),
      ] : [])

  /// What every nested skeleton's steps need of a history.
  static let stepping = """

    /// A history with the steps of a skeleton.
    protocol Stepping { var history: ModelHistory { get set } }
    extension Stepping {
      mutating func step(
        from: String, to: String, @EntityMappingBuilder _ mappings: @escaping @Sendable () throws -> [EntityMapping]
      ) throws { try history.step(from: from, to: to, mappings) }
    }

    """

  /// Returns a skeleton in a type of its own, so that one module holds several.
  static func nested(_ skeleton: String, in name: String) -> String {
    #expect(skeleton.hasPrefix("import Heirloom\n\nextension ModelHistory {\n"))
    let body = skeleton.dropFirst("import Heirloom\n".count)
      .replacingOccurrences(
        of: "extension ModelHistory {", with: "struct Steps: Stepping {\n  var history: ModelHistory")
    return "enum \(name) {\n\(body)}\n"
  }

  private static func main(_ skeletons: [String]) throws -> String {
    let cases = try skeletons.enumerated().map { index, skeleton in
      let name = try #require(skeleton.firstMatch(of: /mutating func (\w+)\(/)?.1)
      return """
          case "\(index)":
            var steps = Skeleton\(index).Steps(history: history)
            try steps.\(name)()
            history = steps.history

        """
    }
    return """
      import Foundation
      import Heirloom

      let arguments = CommandLine.arguments
      func model(_ path: String) throws -> ManagedObjectModel {
        try ModelHistory(contentsOf: URL(fileURLWithPath: path)).current
      }
      var history = ModelHistory(
        current: try model(arguments[4]), name: "2", earlier: [("1", try model(arguments[3]))])
      switch arguments[1] {
      \(cases.joined())  default: fatalError("no such skeleton")
      }
      let url = URL(fileURLWithPath: arguments[2])
      var configuration = MigrationAssistant.Configuration()
      for name in arguments.dropFirst(5) {
        let parts = name.split(separator: ".").map(String.init)
        configuration.decisions.append(DataDecision(entity: parts[0], property: parts[1], .fill(.binary([]))))
      }
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
      do {
        guard case .migrated(let report) = try assistant.migrateStore() else { fatalError("nothing to migrate") }
        for loss in report.plan.losses { print(loss.name) }
      } catch {
        print("\\(error)")
        exit(1)
      }

      """
  }

  @Test func `what is written for a split keeps every value, found again where objects share it`() throws {
    let directory = try TemporaryDirectory()
    var (text, skeletons) = ("import Heirloom\n", [String]())
    for (index, split) in Self.splits.enumerated() {
      let (source, destination) = try split.models()
      let skeleton = try #require(
        MappingSkeleton(MappingInference(from: source, to: destination), from: "1", to: "2")?.source)
      skeletons.append(skeleton)
      // A developer removes the list once each line is decided.
      text += Self.nested(skeleton, in: "Skeleton\(index)")
        .replacing(/let undecided: \[String\] = \[[^\]]*\]/, with: "let undecided: [String] = []")
    }
    let (code, main) = (directory.file("Skeletons.swift"), directory.file("main.swift"))
    try Data((text + Self.stepping).utf8).write(to: code)
    try Data(try Self.main(skeletons).utf8).write(to: main)
    let program = directory.file("program")
    let built = try SwiftCompiler.build([code, main], as: program)
    try #require(built.code == 0, "\(built.output)")
    for (index, split) in Self.splits.enumerated() {
      let (source, destination) = try split.models()
      let store = directory.file("\(index).sqlite")
      try SampleObjects(of: source, objectsPerEntity: 24, seed: 3).makeStore(at: store)
      let before = try #require(try StoreContents(of: store, model: source).objects[split.entity])
      let models = try [source, destination].enumerated().map { number, model in
        let file = directory.file("\(index)-\(number).json")
        try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable).write(to: file)
        return file.path
      }
      let process = Process()
      let pipe = Pipe()
      process.executableURL = program
      process.arguments = ["\(index)", store.path] + models + split.filled
      process.standardOutput = pipe
      try process.run()
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "\(split): \(output)")
      #expect(
        output.split(separator: "\n").allSatisfy { name in
          !split.moves.keys.contains { name == "\(split.entity).\($0)" }
        },
        "\(split): \(output)")
      let after = try StoreContents(of: store, model: destination)
      let parts = after.objects[split.part] ?? [:]
      var (made, kinds): (Int, Set<[String]>) = (0, [])
      #expect(before.count >= 24)
      for (key, old) in before {
        let values = split.moves.sorted { $0.key < $1.key }.map { old.values[$0.key] ?? .null }
        let holders =
          split.link.entity == split.part
          ? parts.filter { $0.value.links[split.link.name] == [key] }.map(\.value)
          : (after.objects[split.entity]?[key]?.links[split.link.name] ?? []).compactMap { parts[$0] }
        guard values.contains(where: { $0 != .null }) else {
          #expect(holders.isEmpty, "\(split): an object without values has a part")
          continue
        }
        made += 1
        kinds.insert(values.map { "\($0)" })
        try #require(holders.count == 1, "\(split): \(values)")
        for (from, to) in split.moves where old.values[from] ?? .null != .null {
          #expect(holders[0].values[to] == old.values[from], "\(split): \(from)")
        }
      }
      if split.isShared {
        #expect(parts.count <= kinds.count, "\(split)")
      } else {
        #expect(parts.count == made, "\(split)")
      }
      #expect(made > 5)
    }
    withExtendedLifetime(directory) {}
  }
}
