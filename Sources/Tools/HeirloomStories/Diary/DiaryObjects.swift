import Heirloom

enum DiaryObjects {
  /// Leaves room for objects in between.
  static let orderStep: Int64 = 1000
  /// Follows the day in a section's sort field.
  static let sortNumber = 1_000_000_000
  /// A question that is answered with text.
  static let textType: Int64 = 0

  @discardableResult
  static func makeTemplate(of questions: [String], in context: ManagedObjectContext) throws -> ManagedObject {
    let template = try context.insert("Template")
    try fill(template, with: questions, in: context)
    return template
  }

  static func fill(_ template: ManagedObject, with questions: [String], in context: ManagedObjectContext) throws {
    try template.setValue(.string(DiaryApp.sectionName), forAttribute: "name")
    try template.setValue(.integer(orderStep), forAttribute: "orderInList")
    for (index, text) in questions.enumerated() {
      let question = try context.insert("TemplateQuestion")
      try question.setValue(.string(text), forAttribute: "name")
      try question.setValue(.integer(Int64(index + 1) * orderStep), forAttribute: "orderInList")
      try question.setValue(.integer(textType), forAttribute: "type")
      try question.setObject(template, forRelationship: "template")
    }
  }

  /// Throws unless `date` is text such as 2017-12-30; a `nil` answer is missing.
  static func fill(
    _ day: ManagedObject, of date: String, with entries: [(question: String, answer: String?)],
    in context: ManagedObjectContext
  ) throws {
    let section = try context.insert("SectionRecord")
    try section.setValue(.string(DiaryApp.sectionName), forAttribute: "name")
    try section.setValue(.integer(orderStep), forAttribute: "orderInList")
    try section.setValue(.string("\(try compactDay(date))\(sortNumber)"), forAttribute: "sortField")
    try section.setObject(day, forRelationship: "dayRecord")
    for (index, entry) in entries.enumerated() {
      let question = try context.insert("Question")
      try question.setValue(.string(entry.question), forAttribute: "name")
      try question.setValue(.integer(Int64(index + 1) * orderStep), forAttribute: "orderInList")
      try question.setValue(.integer(textType), forAttribute: "type")
      if let answer = entry.answer { try question.setValue(.string(answer), forAttribute: "answerText") }
      try question.setObject(section, forRelationship: "section")
    }
  }

  /// As in 20171230 for 2017-12-30.
  static func compactDay(_ date: String) throws(DiaryError) -> String {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false)
    let isDay =
      parts.map(\.utf8.count) == [4, 2, 2]
      && parts.allSatisfy { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
    guard isDay else { throw .noDay(date) }
    return parts.joined()
  }

  /// `nil` for missing texts; empty if there is no array.
  static func texts(_ name: String, of object: ManagedObject) throws -> [String?] {
    guard case .binary(let bytes)? = try object.value(forAttribute: name) else { return [] }
    guard let elements = try ArchivedValue(decoding: bytes).arrayValue else { throw DiaryError.noTexts(name) }
    return try elements.map { element in
      if element.isNull { return nil }
      guard let text = element.stringValue else { throw DiaryError.noTexts(name) }
      return text
    }
  }

  /// Throws if a question is missing.
  static func questions(of object: ManagedObject) throws -> [String] {
    try texts("questions", of: object).map { text in
      guard let text else { throw DiaryError.noTexts("questions") }
      return text
    }
  }
}

/// An object of the old diary that the app can't have written.
enum DiaryError: Error, Hashable {
  case noDay(String)
  case noTexts(String)
  case unequalCounts(questions: Int, answers: Int)
}

extension DiaryError: CustomStringConvertible {
  var description: String {
    switch self {
    case .noDay(let text): "\"\(text.prefix(40))\" is not a day; a text such as 2017-12-30 was expected."
    case .noTexts(let name): "The archived value of \"\(name)\" is not an array of texts."
    case .unequalCounts(let questions, let answers):
      "There are \(answers) answers to \(questions) questions; as many were expected."
    }
  }
}
