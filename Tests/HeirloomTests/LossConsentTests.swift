import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A change that loses something × who may consent: where each value is afterwards, and what the report says of it.
struct LossConsentTests {
  // MARK: - Who may consent

  enum Way: String, CaseIterable, Sendable {
    case noDelegate, stop, accept, delegateWithoutMapping, delegateWithMapping, delegateProceeds, givenMapping, lock
  }

  static func history(
    _ models: [(name: String, model: ManagedObjectModel)], acknowledging: [(String, String, [String])] = [],
    in directory: TemporaryDirectory
  ) throws -> ModelHistory {
    let folder = directory.file("History")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var lock = VersionLock(versions: models.map { VersionLock.Entry(name: $0.name, model: $0.model) })
    for (source, destination, losses) in acknowledging {
      for loss in losses { lock.acknowledge(loss, from: source, to: destination) }
    }
    for (name, model) in models {
      try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable)
        .write(to: folder.appendingPathComponent("\(name).json"))
    }
    try Data(lock.encoded()).write(to: folder.appendingPathComponent("lock.json"))
    return try ModelHistory(contentsOf: folder)
  }

  @Test(arguments: FlightChange.allCases, Way.allCases)
  func `nothing is lost without a word`(change: FlightChange, way: Way) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: url)
    let all = try FlightChange.pilots(in: url)
    #expect(all == FlightChange.names.union(FlightChange.ages))
    let bytes = try Data(contentsOf: url)
    let (source, destination) = (try FlightChange.before(), try change.after())
    let history = try Self.history(
      [("1", source), ("2", destination)], acknowledging: way == .lock ? [("1", "2", change.losses)] : [],
      in: directory)
    var configuration = MigrationAssistant.Configuration()
    let delegate = ClosureDelegate()
    switch way {
    case .noDelegate, .lock, .delegateWithoutMapping: break
    case .stop: configuration.losses = .stop
    case .accept: configuration.losses = .accept
    case .delegateProceeds: delegate.decision = { _ in .proceed(consentingToLosses: true) }
    case .delegateWithMapping:
      delegate.mapping = { _, _, _ in change.keeping.map { MappingModel(entityMappings: $0) } }
    case .givenMapping:
      if let given = change.keeping {
        configuration.mappings = [try MappingInference(from: source, to: destination, given: given).mappingModel()]
      }
    }
    let assistant = MigrationAssistant(url, history, configuration)
    if way.rawValue.hasPrefix("delegate") { assistant.delegate = delegate }
    let keeps = [.delegateWithMapping, .givenMapping].contains(way) && change.keeping != nil
    let lost = keeps ? [] : change.losses

    if way == .stop, !lost.isEmpty {
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .lossesNotConsented(_, let plan)? = error else {
        Issue.record("\(error.map { "\($0)" } ?? "no error")")
        return
      }
      #expect(plan.unconsentedLosses.map(\.name).sorted() == lost)
      #expect(plan.losses.allSatisfy { $0.rows == 4 && $0.kind == .values })
      #expect(try Data(contentsOf: url) == bytes)
      #expect(try assistant.archive.previousVersions().isEmpty)
      return
    }
    let report = try assistant.migrate()
    // Each value is in the store or in the previous version, and the report says so.
    let kept = try #require(try assistant.archive.previousVersions().first)
    let present = try FlightChange.pilots(in: url)
    #expect(try FlightChange.pilots(in: kept.storeURL) == all)
    var expected = all
    if lost.contains("Flight.pilotName") { expected.subtract(FlightChange.names) }
    if lost.contains("Flight.pilotAge") { expected.subtract(FlightChange.ages) }
    #expect(present == expected)
    #expect(report.plan.losses.map(\.name).sorted() == lost)
    let consent: LossConsent? =
      switch way {
      case .accept: .configuration
      case .delegateProceeds: .delegate
      case .lock: .lock
      default: nil
      }
    #expect(report.plan.losses.allSatisfy { $0.consent == consent })
    // The version is pinned if it alone holds something that nobody agreed to lose.
    let isPinned = !lost.isEmpty && consent == nil
    #expect(kept.isPinned == isPinned && report.previousVersion.isPinned == isPinned)
    #expect(kept.alone.map { "\($0.entity).\($0.property ?? "")" }.sorted() == (isPinned ? lost : []))
    #expect(kept.alone.allSatisfy { $0.rows == 4 && $0.kind == "values" })
    if way.rawValue.hasPrefix("delegate") {
      // The delegate is asked once, with the kind and the number of losses; not at all if nothing is lost.
      #expect(delegate.needs.map { $0.losses.map(\.name).sorted() } == (change.losses.isEmpty ? [] : [change.losses]))
      #expect(delegate.needs.allSatisfy { $0.obstacles.isEmpty && $0.losses.allSatisfy { $0.rows == 4 } })
      let pinned = delegate.events.reduce(into: [String]()) { if case .pinned(_, let losses) = $1 { $0 += losses } }
      #expect(pinned.sorted() == (isPinned ? lost : []))
    }
    try assistant.requireNothingToDo()
  }

  // MARK: - Jumps

  @Test(arguments: FlightChange.allCases, [Way.noDelegate, .delegateWithMapping, .lock, .givenMapping])
  func `a jump over the step that loses something asks about that step`(change: FlightChange, way: Way) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: url)
    let all = try FlightChange.pilots(in: url)
    let models = [
      ("1", try FlightChange.before()), ("2", try change.after()),
      ("3", try change.after(more: [Make.attribute("gate")])),
      ("4", try change.after(more: [Make.attribute("gate"), Make.attribute("seats", .integer64)])),
    ]
    let history = try Self.history(
      models, acknowledging: way == .lock ? [("1", "2", change.losses)] : [], in: directory)
    var configuration = MigrationAssistant.Configuration()
    let delegate = ClosureDelegate()
    var asked: [String] = []
    delegate.mapping = { source, destination, _ in
      asked.append(history.versionNames.filter { name in (try? history.model(named: name)) == destination }.joined())
      // The app's code knows only this hop.
      guard source == models[0].1, destination == models[1].1 else { return nil }
      return change.keeping.map { MappingModel(entityMappings: $0) }
    }
    if way == .givenMapping, let given = change.keeping {
      configuration.mappings = [
        try MappingInference(from: models[0].1, to: models[1].1, given: given).mappingModel()
      ]
    }
    let assistant = MigrationAssistant(url, history, configuration)
    if way == .delegateWithMapping { assistant.delegate = delegate }
    let report = try assistant.migrate()
    let keeps = [.delegateWithMapping, .givenMapping].contains(way) && change.keeping != nil
    let lost = keeps ? [] : change.losses
    #expect(report.plan.losses.map(\.name).sorted() == lost)
    var expected = all
    if lost.contains("Flight.pilotName") { expected.subtract(FlightChange.names) }
    if lost.contains("Flight.pilotAge") { expected.subtract(FlightChange.ages) }
    #expect(try FlightChange.pilots(in: url) == expected)
    #expect(report.previousVersion.isPinned == (!lost.isEmpty && way != .lock))
    // It is asked about the whole path only where it has nothing for the step.
    let questions = change.losses.isEmpty ? [] : change.keeping == nil ? ["2", "4"] : ["2"]
    if way == .delegateWithMapping { #expect(asked == questions) }
    #expect(try StoreMetadata(contentsOf: url).versionHashes == models[3].1.versionHashes())
  }

  @Test func `what was acknowledged under another name in a later step counts for a jump`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: url)
    let models = [
      ("1", try FlightChange.before()), ("2", try FlightChange.renamed.after()),
      (
        "3",
        try ManagedObjectModel(entities: [
          Make.entity(
            "Flight", [Make.attribute("number", .integer64), Make.attribute("age", .integer64, id: "pilotAge")])
        ])
      ),
    ]
    for (acknowledged, isPinned) in [("Flight.name", false), ("Flight.age", true)] {
      let copy = directory.file("\(acknowledged).sqlite")
      try FileManager.default.copyItem(at: url, to: copy)
      let history = try Self.history(models, acknowledging: [("2", "3", [acknowledged])], in: directory)
      let assistant = MigrationAssistant(copy, history)
      let report = try assistant.migrate()
      #expect(report.plan.losses.map(\.name) == ["Flight.pilotName"])
      #expect(report.previousVersion.isPinned == isPinned)
    }
  }

  @Test(arguments: [
    ("2", "3", "Flight.pilotName", false), ("2", "1", "Flight.pilotName", true), ("1", "3", "Flight", true),
  ]) func `an acknowledgement is of its own hop, and of what it names`(
    source: String, destination: String, loss: String, isPinned: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: url)
    let first = try FlightChange.before()
    var flight = first.entities[0]
    flight.attributes.append(Make.attribute("gate"))
    let history = try Self.history(
      [
        ("1", first), ("2", try ManagedObjectModel(entities: [flight])),
        ("3", try FlightChange.split.after(more: [Make.attribute("gate")])),
      ], acknowledging: [(source, destination, [loss])], in: directory)
    let assistant = MigrationAssistant(url, history)
    let report = try assistant.migrate()
    #expect(report.plan.losses.map(\.name) == ["Flight.pilotName"])
    #expect(report.previousVersion.isPinned == isPinned)
  }

  // MARK: - A store that changes

  /// `values` of three objects have a value that goes.
  private static func changing(
    _ values: Int, isUnique: Bool = false, in directory: TemporaryDirectory
  ) throws -> MigrationAssistant {
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("gone"), Make.attribute("name")])])
    let destination = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("name")], unique: isUnique ? [["name"]] : [])
    ])
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      for _ in 0..<3 { try context.insert("A")["name"] = .string("one") }
      try context.save()
    }
    try Connection(path: url.path, mode: .readWrite).execute("UPDATE ZA SET ZGONE = 'early' WHERE Z_PK <= \(values)")
    return MigrationAssistant(url, from: source, to: destination)
  }

  private static func addLateValue(to row: Int, _ url: URL) throws {
    try Connection(path: url.path, mode: .readWrite).execute("UPDATE ZA SET ZGONE = 'late' WHERE Z_PK = \(row)")
  }

  @Test(arguments: [0, 1]) func `who agreed to a plan is asked again if more is lost by then`(values: Int) throws {
    let directory = try TemporaryDirectory()
    let assistant = try Self.changing(values, in: directory)
    assistant.delegate = ClosureDelegate(
      decision: { plan in
        plan.losses.reduce(0) { $0 + $1.rows } <= values ? .proceed(consentingToLosses: true) : .refuse
      },
      onEvent: { [url = assistant.storeURL] event in
        // The plan was agreed to, and the store isn't held yet.
        if case .started = event { try Self.addLateValue(to: 3, url) }
      })
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .refused(_, let plan) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(plan.losses.map { "\($0.name) \($0.rows)" } == ["A.gone \(values + 1)"])
    #expect(try assistant.archive.previousVersions().isEmpty)
  }

  @Test func `who decides about rows has agreed to the losses that were shown, and to no others`() throws {
    let directory = try TemporaryDirectory()
    let assistant = try Self.changing(0, isUnique: true, in: directory)
    assistant.delegate = ClosureDelegate(decision: { [url = assistant.storeURL] _ in
      try Self.addLateValue(to: 1, url)
      return .proceed(
        deciding: [DataDecision(entity: "A", property: "name", .keepNewest())], consentingToLosses: true)
    })
    let report = try assistant.migrate()
    #expect(report.plan.unconsentedLosses.map(\.name) == ["A.gone"] && report.previousVersion.isPinned)
  }

  // MARK: - Pins

  @Test func `three releases later a pinned version is there, and goes only when it was released`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: url)
    let all = try FlightChange.pilots(in: url)
    var models = [("1", try FlightChange.before())]
    let more = ["gate", "seats", "food", "crew"].map { Make.attribute($0) }
    for count in 0...4 {
      models.append(("\(count + 2)", try FlightChange.moved.after(more: Array(more.prefix(count)))))
    }
    var kept: [[String]] = []
    var assistant: MigrationAssistant?
    for position in 1..<models.count {
      let history = ModelHistory(
        current: models[position].1, name: models[position].0,
        earlier: models[..<position].map { (name: $0.0, model: $0.1) })
      let next = MigrationAssistant(url, history)
      assistant = next
      if position == 4 {
        let pinned = try #require(try next.archive.previousVersions().last)
        #expect(pinned.isPinned)
        let released = try next.archive.releasePreviousVersion(pinned.id)
        #expect(!released.isPinned && released.alone.count == 2)
        #expect(try next.archive.releasePreviousVersion(pinned.id) == released)
      }
      guard case .migrated = try next.migrateStore(), case .upToDate = try next.migrateStore() else {
        Issue.record("version \(position)")
        return
      }
      kept.append(try next.archive.previousVersions().map { $0.isPinned ? "pinned" : "plain" })
      if position < 4 {
        let oldest = try #require(try next.archive.previousVersions().last)
        #expect(try FlightChange.pilots(in: oldest.storeURL) == all, "after version \(position)")
      }
    }
    // There is one plain version besides the pinned one; after its release that one went in its turn.
    #expect(kept == [["pinned"], ["plain", "pinned"], ["plain", "pinned"], ["plain"], ["plain"]])
    let last = try #require(assistant)
    #expect(throws: MigrationAssistantError.self) { try last.archive.releasePreviousVersion("1999") }
  }

  @Test func `a pin's list is bounded by the room of a description, and the rest is counted`() throws {
    let many = (0..<5_000).map { number in
      SoleContent(kind: "values", entity: "Entity", property: String(repeating: "é", count: 300) + "\(number)", rows: 1)
    }
    let contents = SoleContents(many)
    #expect(contents.items.count + contents.unlistedCount == 5_000 && !contents.items.isEmpty)
    let manifest = PreviousVersionManifest(
      identifier: String(repeating: "a", count: 32), time: 1, storeName: "S", storeByteCount: 1, supportFileCount: 0,
      supportByteCount: 0, versionChecksum: nil, generation: nil, mode: .rollback, alone: contents)
    let bytes = try manifest.encoded()
    #expect(bytes.count < VaultManifest.byteLimit)
    #expect(
      try PreviousVersionManifest(decoding: bytes) == manifest && manifest.isPinned && !manifest.released.isPinned)
    // The checksum covers the pin: removing it makes a damaged description, which is never pruned.
    let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\"alone\"", with: "\"other\"")
    #expect(throws: ManifestError.self) { try PreviousVersionManifest(decoding: Array(text.utf8)) }
  }
}
