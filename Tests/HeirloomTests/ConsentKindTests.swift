import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomStore
import TestSupport
import Testing

/// Consent by kind: each state that a property can come to by two steps × what the lock acknowledges of each × the way.
struct ConsentKindTests {
  /// What is left of the attribute `Note.size` and of the ordered relationship `Note.tags` in a version.
  enum Form: String, CaseIterable, Sendable {
    case whole, changed, unordered, single, noValue, noLinks, noNote

    /// The kinds of what a step from a form to a later one loses, by hand.
    func losses(to other: Form) -> Set<LossKind> {
      guard self != other else { return [] }
      return switch other {
      case .whole: []
      case .noNote: [.objects]
      case .changed: [.changedValues]
      case .noValue: [.values]
      case .unordered: [.order]
      case .single: [.linksWithoutRoom]
      case .noLinks: [.links]
      }
    }

    var next: [Form] {
      switch self {
      case .whole: Self.allCases
      case .changed: [.changed, .noValue, .noNote]
      case .unordered: [.unordered, .single, .noLinks, .noNote]
      case .single: [.single, .noLinks, .noNote]
      case .noValue, .noLinks: [self, .noNote]
      case .noNote: [.noNote]
      }
    }

    /// `mark` makes it another version.
    func model(_ mark: String, name: String = "size") throws -> ManagedObjectModel {
      var size = [Make.attribute(name, self == .changed ? .integer32 : .double, id: name == "size" ? nil : "size")]
      if self == .noValue { size = [] }
      let tags: [RelationshipDescription] =
        switch self {
        case .noLinks: []
        case .single: [Make.toOne("tags", "Tag", "notes")]
        default: [Make.toMany("tags", "Tag", "notes", ordered: self != .unordered)]
        }
      let isLinked = self != .noLinks && self != .noNote
      let note = Make.entity("Note", [Make.attribute("title")] + size, tags)
      let tag = Make.entity(
        "Tag", [Make.attribute("name"), Make.attribute(mark)], isLinked ? [Make.toMany("notes", "Note", "tags")] : [])
      return try ManagedObjectModel(entities: self == .noNote ? [tag] : [note, tag])
    }
  }

  enum Entry: String, CaseIterable, Sendable {
    case none, name, kind, otherKind
    var acknowledges: Bool { self == .name || self == .kind }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let middle: Form
    let last: Form
    let first, second: Entry
    /// The attribute has another name from the second version on.
    let isRenamed: Bool
    var testDescription: String { "\(middle) \(first), \(last) \(second)\(isRenamed ? ", renamed" : "")" }
  }

  static let cases: [Case] = Form.allCases.flatMap { middle in
    middle.next.flatMap { last in
      Entry.allCases.flatMap { first in
        Entry.allCases.compactMap { second in
          // Entries of a step that loses nothing are all alike.
          if Form.whole.losses(to: middle).isEmpty && first != .none { return nil }
          if middle.losses(to: last).isEmpty && second != .none { return nil }
          // The wrong kind once on each side.
          if first == .otherKind && second == .none || second == .otherKind && first == .none { return nil }
          let renames = [Form.whole, .changed, .noValue].contains(middle) && [.noValue, .changed].contains(last)
          return Case(
            middle: middle, last: last, first: first, second: second, isRenamed: renames && first == second)
        }
      }
    }
  }

  /// No integer can hold any of the three sizes; each note has two tags.
  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    let tags = try (0..<3).map { _ in try context.insert("Tag") }
    for number in 0..<3 {
      let note = try context.insert("Note")
      note["size"] = .double(Double(number) + 0.5)
      note[toMany: "tags"] = [tags[number], tags[(number + 1) % 3]]
    }
    try context.save()
  }

  private static func note(
    _ entry: Entry, _ lock: inout VersionLock, _ step: (String, String),
    _ models: (ManagedObjectModel, ManagedObjectModel)
  ) {
    guard entry != .none else { return }
    for effect in MappingInference(from: models.0, to: models.1).effects {
      guard let kind = effect.kind.lossKind else { continue }
      let other = LossKind.allCases.first { $0 != kind } ?? kind
      lock.acknowledge(
        effect.lossName, kind: entry == .name ? nil : entry == .kind ? kind : other, from: step.0, to: step.1)
    }
  }

  /// The last of the models is the current version.
  private static func assistant(
    _ url: URL, _ models: [(String, ManagedObjectModel)], _ lock: VersionLock
  ) throws -> MigrationAssistant {
    let current = try #require(models.last)
    return MigrationAssistant(
      url,
      ModelHistory(
        current: current.1, name: current.0, earlier: models.dropLast().map { (name: $0.0, model: $0.1) }
      ).locked(by: lock))
  }

  private static func lock(_ models: [(String, ManagedObjectModel)]) -> VersionLock {
    VersionLock(versions: models.map { VersionLock.Entry(name: $0.0, model: $0.1) })
  }

  @Test func `a step is acknowledged by its kinds, or by a name alone`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Start.sqlite")
    let first = try Form.whole.model("one")
    try Self.fill(url, first)
    for form in Form.allCases where form != .whole {
      for entry in Entry.allCases {
        let models = [("1", first), ("2", try form.model("two"))]
        var lock = Self.lock(models)
        Self.note(entry, &lock, ("1", "2"), (models[0].1, models[1].1))
        let plan = try #require(try Self.assistant(url, models, lock).plan())
        #expect(Form.whole.losses(to: form).isSubset(of: plan.losses.map(\.kind)), "\(form): \(plan.losses)")
        #expect(plan.unconsentedLosses.isEmpty == entry.acknowledges, "\(form) \(entry): \(plan.losses)")
      }
    }
  }

  @Test func `what two steps lose is acknowledged for a jump only if each step acknowledges its kind`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Start.sqlite")
    let first = try Form.whole.model("one")
    try Self.fill(url, first)
    for one in Self.cases {
      let name = one.isRenamed ? "amount" : "size"
      let models = [
        ("1", first), ("2", try one.middle.model("two", name: name)), ("3", try one.last.model("three", name: name)),
      ]
      var lock = Self.lock(models)
      Self.note(one.first, &lock, ("1", "2"), (models[0].1, models[1].1))
      Self.note(one.second, &lock, ("2", "3"), (models[1].1, models[2].1))
      // By hand: a jump is consented to if each of its steps loses nothing or is acknowledged.
      let steps = [
        (Form.whole.losses(to: one.middle), one.first), (one.middle.losses(to: one.last), one.second),
      ]
      let isConsented = steps.allSatisfy { $0.0.isEmpty || $0.1.acknowledges }
      let plan = try #require(try Self.assistant(url, models, lock).plan())
      #expect(plan.hops.count == 1 && Form.whole.losses(to: one.last).isSubset(of: plan.losses.map(\.kind)), "\(one)")
      #expect(plan.unconsentedLosses.isEmpty == isConsented, "\(one): \(plan.losses)")
    }
  }

  @Test(arguments: [(Form.changed, Form.noValue), (.unordered, .noLinks)], [false, true])
  func `the previous version of a jump is pinned unless both kinds are acknowledged`(
    forms: (middle: Form, last: Form), isSecondToo: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Start.sqlite")
    let first = try Form.whole.model("one")
    try Self.fill(url, first)
    let models = [("1", first), ("2", try forms.middle.model("two")), ("3", try forms.last.model("three"))]
    var lock = Self.lock(models)
    Self.note(.name, &lock, ("1", "2"), (models[0].1, models[1].1))
    if isSecondToo { Self.note(.name, &lock, ("2", "3"), (models[1].1, models[2].1)) }
    let report = try Self.assistant(url, models, lock).migrate()
    #expect(report.previousVersion.isPinned == !isSecondToo)
    let isKept = try Connection(reading: report.previousVersion.storeURL).firstInteger(
      "SELECT COUNT(ZSIZE) + (SELECT COUNT(*) FROM Z_1TAGS) FROM ZNOTE")
    #expect(isKept == 9)
  }

  @Test func `an entry without a kind takes the kinds of its own step's models, and none if one is missing`() throws {
    let (first, second) = (try Form.whole.model("one"), try Form.changed.model("two"))
    let third = try Form.noValue.model("three")
    func known(_ kind: LossKind?, _ name: String, _ from: ManagedObjectModel, _ to: ManagedObjectModel) -> Set<LossKind>
    {
      let losses = AcknowledgedLosses(
        [VersionLock.Acknowledgement.Loss(name: name, kind: kind)], from: from, to: to)
      return Set(LossKind.allCases.filter { losses.contains("Note.size", $0) })
    }
    #expect(known(nil, "Note.size", first, second) == [.changedValues])
    #expect(known(nil, "Note.size", second, third) == [.values])
    #expect(known(nil, "Note.size", first, first) == [])
    #expect(known(nil, "Note", first, third) == [] && known(nil, "Note.siz", first, third) == [])
    for kind in LossKind.allCases { #expect(known(kind, "Note.size", first, second) == [kind]) }

    // The middle version's model is gone: its entries count for nothing.
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    try Self.fill(url, first)
    var lock = Self.lock([("1", first), ("2", second), ("3", third)])
    lock.acknowledge("Note.size", from: "1", to: "2")
    lock.acknowledge("Note.size", from: "2", to: "3")
    let plan = try #require(try Self.assistant(url, [("1", first), ("3", third)], lock).plan())
    #expect(plan.unconsentedLosses.map(\.name) == ["Note.size"])
  }

  @Test(arguments: Form.allCases.filter { $0 != .whole }, ["1", "2", "3"])
  func `what a lock acknowledges of one model is not consent for another of that version's name`(
    form: Form, edited: String
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let models = [
      ("1", try Form.whole.model("one")), ("2", try form.model("two")), ("3", try form.model("three")),
    ]
    try Self.fill(url, models[0].1)
    // The lock notes what one of the versions was before somebody edited it.
    var lock = try Self.lock(models.map { ($0.0, $0.0 == edited ? try Form.whole.model("before") : $0.1) })
    Self.note(.kind, &lock, ("1", "2"), (models[0].1, models[1].1))
    let plan = try #require(try Self.assistant(url, models, lock).plan())
    #expect(!plan.losses.isEmpty && plan.unconsentedLosses.isEmpty == (edited == "3"), "\(plan.losses)")
    // Of several versions with one name, the last has it.
    var twice = VersionLock(
      versions: lock.versions + [
        VersionLock.Entry(
          id: "again", name: edited, checksum: models.first { $0.0 == edited }?.1.versionChecksum())
      ])
    Self.note(.kind, &twice, (twice.identifier(of: "1"), twice.identifier(of: "2")), (models[0].1, models[1].1))
    let last = try #require(try Self.assistant(url, models, twice).plan())
    #expect(!last.losses.isEmpty && last.unconsentedLosses.isEmpty, "\(last.losses)")
  }

  @Test(arguments: [nil, LossKind.values, .unknownContent]) func `content that no model knows needs its kind`(
    kind: LossKind?
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (first, second) = (try Form.whole.model("one"), try Form.noNote.model("two"))
    try Self.fill(url, first)
    for sql in ["ALTER TABLE ZNOTE ADD COLUMN ZOTHER", "UPDATE ZNOTE SET ZOTHER = 'x' WHERE Z_PK = 1"] {
      try Connection(path: url.path, mode: .readWrite).execute(sql)
    }
    let models = [("1", first), ("2", second)]
    var lock = Self.lock(models)
    Self.note(.name, &lock, ("1", "2"), (first, second))
    lock.acknowledge("Note.ZOTHER", kind: kind, from: "1", to: "2")
    let plan = try #require(try Self.assistant(url, models, lock).plan())
    let open = plan.unconsentedLosses.map { "\($0.kind) \($0.name) \($0.rows)" }
    #expect(open == (kind == .unknownContent ? [] : ["unknownContent Note.ZOTHER 1"]))
  }
}
