package import Foundation
import Heirloom
import HeirloomOutput

package struct DiaryRun: DemoRun {
  package static let name = "Diary"
  package static let versionCount = 2

  private static let dayCount = 400

  private let story: DemoStory
  package let directory: URL
  package private(set) var tale: DemoTale

  package init(story: DemoStory, directory: URL, tale: DemoTale) {
    self.story = story
    self.directory = directory
    self.tale = tale
  }

  private var url: URL { directory.appendingPathComponent("Diary.sqlite") }
  private var old: ManagedObjectModel { story.versions[0].model }
  private var new: ManagedObjectModel { story.versions[1].model }

  package var storePath: String { url.path }

  package mutating func tell() throws {
    tale.lines = [
      tale.style.bold("A diary of archived arrays becomes one of objects, by two policies of the app's own."),
      "Everything happens in \(directory.path).",
    ]
    let diary = OldDiary.sample(days: Self.dayCount)
    try makeStore(of: diary)
    let kept = try migrate(diary)
    try launchAgain()
    try readKept(kept, diary)
    try migrateWithoutQuestions()
    try startAnew()
    tale.lines += ["", tale.style.green("All of this was checked, object by object, nothing assumed.")]
  }

  // MARK: The steps

  private mutating func makeStore(of diary: OldDiary) throws {
    tale.heading("The app ships with the model \"\(story.versions[0].name)\", and a user writes a diary")
    try diary.makeStore(at: url, model: old)
    try ModelController(storeURL: url).archive(old)
    let questions = diary.records.map(\.questions.count).reduce(0, +)
    let answers = diary.records.flatMap(\.answers).count { $0 != nil }
    tale.say(
      "\(counted(Int64(diary.records.count), "day")) of Records, each with an archived array of questions and one of answers:"
        + " \(counted(Int64(questions), "question")), \(counted(Int64(answers), "answer")).")
    tale.step(
      "create",
      [
        ("days", .integer(Int64(diary.records.count))), ("questions", .integer(Int64(questions))),
        ("answers", .integer(Int64(answers))),
      ])
  }

  private mutating func migrate(_ diary: OldDiary) throws -> PreviousVersion {
    tale.heading("An update brings the model \"\(story.versions[1].name)\", and the app starts")
    let app = DiaryApp(storeURL: url, history: story.history(at: 1))
    let (outcome, madeTemplate) = try app.launch()
    guard case .migrated(let report) = outcome else { throw failure("there was nothing to migrate") }
    for line in app.log { tale.say(line) }
    tale.say(
      "The app answers with two entity mappings, Questions to Template and Records to DayRecord; the rest is inferred.")
    let content = try DiaryContent(of: url, model: new)
    let expected = DiaryContent(of: diary, initialTemplate: [])
    try check(content.templates == expected.templates, "the template does not match the questions")
    try check(
      content.days == expected.days, "the \(content.days.count) days are not the \(diary.records.count) from before")
    try check(!madeTemplate, "an initial template was made although there is one")
    tale.say(
      "\(counted(Int64(content.days.count), "day")) of DayRecord with a section each,"
        + " \(counted(Int64(content.questionCount), "question")), \(counted(Int64(content.answerCount), "answer"));"
        + " one template of \(counted(Int64(content.templates.first?.entries.count ?? 0), "question")).")
    if let day = content.days.first(where: { $0.date == "2017-12-30" }), let section = day.sections.first {
      tale.say("2017-12-30: \"\(section.name ?? "")\", sorted by \(section.sortField ?? "")")
      for entry in section.entries {
        tale.say("  \(entry.orderInList ?? 0)  \(entry.name ?? "")  \(entry.answerText ?? "(no answer)")")
      }
    }
    tale.say("It took \(durationText(report.seconds)); the old diary is kept as \(report.previousVersion.id).")
    tale.step(
      "migrate",
      [
        ("days", .integer(Int64(content.days.count))), ("questions", .integer(Int64(content.questionCount))),
        ("answers", .integer(Int64(content.answerCount))), ("templates", .integer(Int64(content.templates.count))),
        ("retained", .text(report.previousVersion.id)), ("seconds", .number(report.seconds)),
      ])
    return report.previousVersion
  }

  private mutating func launchAgain() throws {
    tale.heading("The app starts again")
    let bytes = try Data(contentsOf: url)
    let app = DiaryApp(storeURL: url, history: story.history(at: 1))
    let (outcome, madeTemplate) = try app.launch()
    guard case .upToDate = outcome, !madeTemplate else { throw failure("the second launch migrated again") }
    try check(try Data(contentsOf: url) == bytes, "the second launch changed the store")
    tale.say("Nothing to do; no byte of the store changed.")
    tale.step("upToDate", [])
  }

  private mutating func readKept(_ kept: PreviousVersion, _ diary: OldDiary) throws {
    tale.heading("And the old diary?")
    try check(try OldDiary(of: kept.storeURL, model: old) == diary, "the kept version is not the diary from before")
    tale.say("\(kept.id) holds all \(counted(Int64(diary.records.count), "day")), arrays and all.")
    tale.step("kept", [("days", .integer(Int64(diary.records.count)))])
  }

  private mutating func migrateWithoutQuestions() throws {
    tale.heading("Another user never chose any questions")
    let other = directory.appendingPathComponent("Other.sqlite")
    let diary = OldDiary(
      questions: nil, records: [OldDiary.Record(date: "2017-12-30", questions: ["Anything?"], answers: [nil])])
    try diary.makeStore(at: other, model: old)
    let app = DiaryApp(storeURL: other, history: story.history(at: 1))
    let (outcome, madeTemplate) = try app.launch()
    guard case .migrated = outcome else { throw failure("there was nothing to migrate") }
    let expected = DiaryContent(of: diary, initialTemplate: DiaryApp.initialQuestions)
    try check(madeTemplate, "no initial template was made")
    try checkInitial(try DiaryContent(of: other, model: new), expected)
    tale.say(
      "The day was migrated, its missing answer stays empty; there was no template, so the app made the initial one.")
    tale.step("migrateWithoutQuestions", [("templates", .integer(1))])
  }

  private mutating func startAnew() throws {
    tale.heading("A new user starts with this version")
    let fresh = directory.appendingPathComponent("Fresh.sqlite")
    let app = DiaryApp(storeURL: fresh, history: story.history(at: 1))
    let (outcome, madeTemplate) = try app.launch()
    guard case .noStore = outcome, madeTemplate else { throw failure("the first launch found a store") }
    let expected = DiaryContent(
      of: OldDiary(questions: nil, records: []), initialTemplate: DiaryApp.initialQuestions)
    try checkInitial(try DiaryContent(of: fresh, model: new), expected)
    tale.say("There was no store: the app made one, with the initial template.")
    tale.step("noStore", [("templates", .integer(1))])
  }

  // MARK: Parts

  private func checkInitial(_ content: DiaryContent, _ expected: DiaryContent) throws {
    try check(content == expected, "the store does not hold the initial template and its days")
  }
}
