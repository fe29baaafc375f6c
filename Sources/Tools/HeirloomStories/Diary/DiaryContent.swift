import Foundation
import Heirloom

/// The actual or expected content of a store of the second version.
struct DiaryContent: Equatable {
  /// An object in a list, with its child objects.
  struct Entry: Equatable {
    var name: String?
    var orderInList: Int64?
    var type: Int64?
    var sortField: String?
    var answerText: String?
    var entries: [Entry] = []
  }

  struct Day: Equatable {
    var date: String?
    var sections: [Entry]
  }

  /// In list order.
  private(set) var templates: [Entry] = []
  /// By date.
  private(set) var days: [Day] = []

  var questionCount: Int { days.flatMap(\.sections).map(\.entries.count).reduce(0, +) }
  var answerCount: Int {
    days.flatMap(\.sections).flatMap(\.entries).count { $0.answerText != nil }
  }

  init(of url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    templates = try context.fetch("Template").map { template in
      try Self.entry(template, model, under: ["questions"])
    }.sorted { ($0.orderInList ?? 0) < ($1.orderInList ?? 0) }
    days = try context.fetch("DayRecord").map { day in
      let sections = try day.objects(forRelationship: "sections").map {
        try Self.entry($0, model, under: ["questions"])
      }
      return Day(date: try Self.text("date", of: day), sections: sections.sorted(by: Self.precedes))
    }.sorted { ($0.date ?? "") < ($1.date ?? "") }
    try store.close()
  }

  /// Expected after the migration of an old diary.
  init(of old: OldDiary, initialTemplate: [String]) {
    let step = DiaryObjects.orderStep
    func questions(_ texts: [String], answers: [String?]) -> [Entry] {
      zip(texts, answers).enumerated().map { index, pair in
        Entry(name: pair.0, orderInList: Int64(index + 1) * step, type: 0, answerText: pair.1)
      }
    }
    let asked = old.questions ?? initialTemplate
    templates = [
      Entry(
        name: DiaryApp.sectionName, orderInList: step,
        entries: questions(asked, answers: asked.map { _ in nil }))
    ]
    days = old.records.map { record in
      let section = Entry(
        name: DiaryApp.sectionName, orderInList: step,
        sortField: record.date.filter { $0 != "-" } + "1000000000",
        entries: questions(record.questions, answers: record.answers))
      return Day(date: record.date, sections: [section])
    }.sorted { ($0.date ?? "") < ($1.date ?? "") }
  }

  private static func entry(
    _ object: ManagedObject, _ model: ManagedObjectModel, under relationships: [String]
  ) throws -> Entry {
    var values: [String: AttributeValue] = [:]
    for attribute in model.attributes(of: object.entityName) {
      values[attribute.name] = try object.value(forAttribute: attribute.name)
    }
    var entry = Entry()
    if case .string(let text)? = values["name"] { entry.name = text }
    if case .integer(let number)? = values["orderInList"] { entry.orderInList = number }
    if case .integer(let number)? = values["type"] { entry.type = number }
    if case .string(let text)? = values["sortField"] { entry.sortField = text }
    if case .string(let text)? = values["answerText"] { entry.answerText = text }
    for relationship in relationships {
      entry.entries += try object.objects(forRelationship: relationship).map {
        try Self.entry($0, model, under: [])
      }
    }
    entry.entries.sort(by: precedes)
    return entry
  }

  private static func precedes(_ one: Entry, _ other: Entry) -> Bool {
    (one.orderInList ?? 0) < (other.orderInList ?? 0)
  }

  private static func text(_ name: String, of object: ManagedObject) throws -> String? {
    guard case .string(let text)? = try object.value(forAttribute: name) else { return nil }
    return text
  }
}
