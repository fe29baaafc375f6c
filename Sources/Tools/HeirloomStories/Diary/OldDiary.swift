package import Foundation
package import Heirloom

/// The content of a store of the diary's first version.
package struct OldDiary: Equatable, Sendable {
  package struct Record: Equatable, Sendable {
    /// As text, such as 2017-12-30.
    package var date: String
    package var questions: [String]
    /// In the order of the questions; `nil` for a missing answer.
    package var answers: [String?]

    package init(date: String, questions: [String], answers: [String?]) {
      self.date = date
      self.questions = questions
      self.answers = answers
    }
  }

  /// For every day; `nil` if there is no such object.
  package var questions: [String]?
  package var records: [Record]

  package init(questions: [String]?, records: [Record]) {
    self.questions = questions
    self.records = records
  }

  /// Starts in 2017; its questions changed once and weren't all answered.
  package static func sample(days: Int) -> OldDiary {
    let first = ["What was good today?", "What did I learn?", "Whom did I meet?"]
    let later = ["What was good today?", "What did I learn?", "Whom did I meet?", "Wofür bin ich dankbar?"]
    let records = (0..<days).map { day in
      let questions = day < days / 2 ? first : later
      let answers = questions.indices.map { index in
        // Every fifth answer is missing, and some days have no answers.
        day % 7 == 3 || (day + index) % 5 == 4 ? nil : "Answer \(index + 1) of day \(day + 1) 🌱"
      }
      return Record(date: text(ofDay: day), questions: questions, answers: answers)
    }
    return OldDiary(questions: days < 2 ? first : later, records: records)
  }

  /// In the format of the first version; day 0 is 2017-01-01.
  private static func text(ofDay number: Int) -> String {
    // Noon of the day, in seconds since 1970.
    let date = Date(timeIntervalSince1970: 1_483_228_800 + 43_200 + Double(number) * 86_400)
    return date.formatted(.iso8601.year().month().day())
  }

  package func makeStore(at url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    if let questions {
      let object = try context.insert("Questions")
      try object.setValue(.binary(ArchivedValue.strings(questions).encoded()), forAttribute: "questions")
    }
    for record in records {
      let object = try context.insert("Records")
      try object.setValue(.string(record.date), forAttribute: "date")
      try object.setValue(.binary(ArchivedValue.strings(record.questions).encoded()), forAttribute: "questions")
      try object.setValue(.binary(ArchivedValue.strings(record.answers).encoded()), forAttribute: "answers")
    }
    try context.save()
    try store.close()
  }

  package init(of url: URL, model: ManagedObjectModel) throws {
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    questions = try context.fetch("Questions").first.map { try DiaryObjects.questions(of: $0) }
    records = try context.fetch("Records").map { object in
      var date = ""
      if case .string(let text)? = try object.value(forAttribute: "date") { date = text }
      return Record(
        date: date, questions: try DiaryObjects.questions(of: object),
        answers: try DiaryObjects.texts("answers", of: object))
    }
    try store.close()
  }
}
