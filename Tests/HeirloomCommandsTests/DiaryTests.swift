import Foundation
import Heirloom
import HeirloomCommands
import HeirloomStories
import TestSupport
import Testing

/// The story Diary: archived arrays become objects by policies.
struct DiaryTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Diary.sqlite") }
  private let history: ModelHistory
  private let old: ManagedObjectModel

  init() throws {
    directory = try TemporaryDirectory()
    history = try ModelHistory(contentsOf: Tool.snapshots.appendingPathComponent("Diary"))
    old = try #require(try history.model(named: "Diary"))
  }

  private func rows(_ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: url.path, mode: .readWrite)
    let rows = try connection.rows(sql)
    try connection.close()
    return rows
  }

  private func launch() throws -> (outcome: MigrationOutcome, madeTemplate: Bool) {
    try DiaryApp(storeURL: url, history: history).launch()
  }

  @Test func `the story's models are as they were shipped`() throws {
    #expect(history.versionNames == ["Diary", "Diary 2"])
    #expect(history.currentName == "Diary 2")
    let folder = Tool.snapshots.appendingPathComponent("Diary")
    for version in try ModelVersionList(folder.path).versions {
      let snapshot = try ModelSnapshot(
        bytes: Array(Data(contentsOf: folder.appendingPathComponent(version.name + ".json"))))
      let source = folder.appendingPathComponent("Diary.xcdatamodeld/\(version.name).xcdatamodel")
      #expect(try ModelFile.read(source.path).model == snapshot.model)
      #expect(version.lockedChecksum == snapshot.versionChecksum)
    }
  }

  @Test func `every array becomes the objects that it lists`() throws {
    let diary = OldDiary(
      questions: ["What was good?", "What was not?"],
      records: [
        .init(date: "2017-12-30", questions: ["What was good?", "What was not?"], answers: ["Snow 🌨", nil]),
        .init(date: "2018-01-01", questions: ["Who?"], answers: [""]),
        .init(date: "2018-01-02", questions: [], answers: []),
      ])
    try diary.makeStore(at: url, model: old)
    let (outcome, madeTemplate) = try launch()
    let report = try #require(outcome.report)
    #expect(!madeTemplate)
    // Plain SQL reads the rows as they are in the file.
    #expect(
      try rows("SELECT ZNAME, ZORDERINLIST FROM ZTEMPLATE") == [[.text("Main category"), .integer(1000)]])
    #expect(
      try rows(
        """
        SELECT t.ZNAME, q.ZNAME, q.ZORDERINLIST, q.ZTYPE FROM ZTEMPLATEQUESTION AS q
        JOIN ZTEMPLATE AS t ON t.Z_PK = q.ZTEMPLATE ORDER BY q.ZORDERINLIST
        """)
        == [
          [.text("Main category"), .text("What was good?"), .integer(1000), .integer(0)],
          [.text("Main category"), .text("What was not?"), .integer(2000), .integer(0)],
        ])
    #expect(
      try rows(
        """
        SELECT d.ZDATE, s.ZNAME, s.ZORDERINLIST, s.ZSORTFIELD FROM ZSECTIONRECORD AS s
        JOIN ZDAYRECORD AS d ON d.Z_PK = s.ZDAYRECORD ORDER BY s.ZSORTFIELD
        """)
        == [
          [.text("2017-12-30"), .text("Main category"), .integer(1000), .text("201712301000000000")],
          [.text("2018-01-01"), .text("Main category"), .integer(1000), .text("201801011000000000")],
          [.text("2018-01-02"), .text("Main category"), .integer(1000), .text("201801021000000000")],
        ])
    #expect(
      try rows(
        """
        SELECT s.ZSORTFIELD, q.ZNAME, q.ZORDERINLIST, q.ZTYPE, q.ZANSWERTEXT FROM ZQUESTION AS q
        JOIN ZSECTIONRECORD AS s ON s.Z_PK = q.ZSECTION ORDER BY s.ZSORTFIELD, q.ZORDERINLIST
        """)
        == [
          [.text("201712301000000000"), .text("What was good?"), .integer(1000), .integer(0), .text("Snow 🌨")],
          [.text("201712301000000000"), .text("What was not?"), .integer(2000), .integer(0), .null],
          [.text("201801011000000000"), .text("Who?"), .integer(1000), .integer(0), .text("")],
        ])
    #expect(try OldDiary(of: report.previousVersion.storeURL, model: old) == diary)
    #expect(try DiaryApp(storeURL: url, history: history).launch().madeTemplate == false)
    #expect(try rows("SELECT COUNT(*) FROM ZTEMPLATE") == [[.integer(1)]])
  }

  @Test func `days keep their keys, and the store passes every check`() throws {
    let diary = OldDiary.sample(days: 100)
    try diary.makeStore(at: url, model: old)
    let before = try rows("SELECT Z_PK, ZDATE FROM ZRECORDS ORDER BY 1")
    _ = try launch()
    #expect(try rows("SELECT Z_PK, ZDATE FROM ZDAYRECORD ORDER BY 1") == before)
    let tool = Tool(directory: directory.url)
    #expect(tool("verify", url.path).code == 0)
    // Keys continue where the migration ended.
    let highest = try rows("SELECT MAX(Z_PK) FROM ZQUESTION")
    #expect(try rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Question'") == highest)
  }

  @Test func `an app without template gets the initial one, once`() throws {
    try OldDiary(questions: nil, records: []).makeStore(at: url, model: old)
    #expect(try launch().madeTemplate)
    #expect(try launch().madeTemplate == false)
    #expect(
      try rows("SELECT ZNAME FROM ZTEMPLATEQUESTION ORDER BY ZORDERINLIST")
        == DiaryApp.initialQuestions.map { [.text($0)] })
  }

  @Test func `a first launch makes a store with the initial template`() throws {
    let (outcome, madeTemplate) = try launch()
    guard case .noStore = outcome else {
      Issue.record("there was a store")
      return
    }
    #expect(madeTemplate)
    #expect(try rows("SELECT COUNT(*) FROM ZTEMPLATE") == [[.integer(1)]])
    guard case .upToDate = try launch().outcome else {
      Issue.record("the second launch had something to do")
      return
    }
  }

  /// With words of the error.
  static let damage: [(sql: String, words: String)] = [
    (
      "UPDATE ZRECORDS SET ZANSWERS = (SELECT ZANSWERS FROM ZRECORDS WHERE Z_PK = 3) WHERE Z_PK = 2", "2 answers to 1 q"
    ),
    ("UPDATE ZRECORDS SET ZANSWERS = NULL WHERE Z_PK = 2", "0 answers to 1 q"),
    ("UPDATE ZRECORDS SET ZDATE = 'yesterday' WHERE Z_PK = 2", "\"yesterday\""),
    ("UPDATE ZRECORDS SET ZDATE = NULL WHERE Z_PK = 2", "2017-12-30 was expected"),
    ("UPDATE ZRECORDS SET ZANSWERS = X'00010203' WHERE Z_PK = 2", "NSKeyedArchiver"),
    ("UPDATE ZRECORDS SET ZQUESTIONS = SUBSTR(ZQUESTIONS, 1, LENGTH(ZQUESTIONS) - 1) WHERE Z_PK = 2", "damaged"),
  ]

  @Test(arguments: damage)
  func `a record that the app never wrote stops the migration, and the diary stays as it was`(
    _ sql: String, _ words: String
  ) throws {
    let one = OldDiary.Record(date: "2018-01-01", questions: ["a"], answers: ["b"])
    let two = OldDiary.Record(date: "2018-01-02", questions: ["a", "b"], answers: ["c", nil])
    try OldDiary(questions: ["a"], records: [one, one, two]).makeStore(at: url, model: old)
    _ = try rows(sql)
    let before = try rows("SELECT * FROM ZRECORDS")
    let error = try #require(throws: MigrationAssistantError.self) { try launch() }
    #expect(error.description.contains(words), "\(error.description)")
    #expect(error.description.contains("Records->DayRecord"), "\(error.description)")
    #expect(error.description.contains("2"), "\(error.description)")
    #expect(try rows("SELECT * FROM ZRECORDS") == before)
    let left = try FileManager.default.contentsOfDirectory(atPath: url.path + ".heirloom/incoming")
    #expect(left == [])
  }

  @Test func `policies do nothing of their own for a mapping of another version`() throws {
    try OldDiary.sample(days: 3).makeStore(at: url, model: old)
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: old, to: history.current) {
        EntityMapping(
          from: "Questions", to: "Template", policy: QuestionsToTemplate.self, userInfo: ["modelVersion": "3"])
        EntityMapping(from: "Records", to: "DayRecord", policy: RecordsToDayRecord.self)
      }
    ]
    _ = try MigrationAssistant(url, history, configuration).migrateStore()
    #expect(try rows("SELECT COUNT(*) FROM ZDAYRECORD") == [[.integer(3)]])
    #expect(try rows("SELECT COUNT(*) FROM ZQUESTION") == [[.integer(0)]])
    #expect(try rows("SELECT ZNAME FROM ZTEMPLATE") == [[.null]])
  }

  @Test func `the demo tells it all, and tidies up`() throws {
    let tool = Tool(directory: Tool.snapshots, environment: ["TMPDIR": directory.url.path])
    let outcome = tool("demo", "Diary")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("400 days of DayRecord with a section each, 1,400 questions"))
    #expect(outcome.output.contains("sorted by 201712301000000000"))
    #expect(outcome.output.contains("(no answer)"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    let steps = try #require(try tool("demo", "Diary", "--json").json()["steps"] as? [[String: Any]])
    #expect(
      steps.map { $0["name"] as? String } == [
        "create", "migrate", "upToDate", "kept", "migrateWithoutQuestions", "noStore",
      ])
    #expect(steps[0]["answers"] as? Int == steps[1]["answers"] as? Int)
  }

  @Test func `the tool alone asks for a mapping, since the identifiers say that entities are divided`() throws {
    try OldDiary.sample(days: 3).makeStore(at: url, model: old)
    let tool = Tool(directory: directory.url)
    let story = Tool.snapshots.appendingPathComponent("Diary").path
    let outcome = tool("migrate", url.path, "--to", story, "--json")
    #expect(outcome.code == 3)
    #expect(try outcome.failure()["code"] as? String == "mappingNeeded")
    #expect(try rows("SELECT COUNT(*) FROM ZRECORDS") == [[.integer(3)]])
  }
}
