import Foundation
import Heirloom
import HeirloomCompare
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct ReportTests {
  private func page(
    _ store: URL, to model: String, in directory: TemporaryDirectory, _ more: String...
  ) throws -> String {
    let tool = Tool(directory: directory.url)
    let outcome = tool.run(["report", store.path, "--to", model, "--output", "report.html"] + more)
    #expect(outcome.code == 0, "\(outcome.error)")
    return try String(contentsOf: directory.file("report.html"), encoding: .utf8)
  }

  private func text(of page: String) throws -> String {
    let body = try #require(page.range(of: "<body>")).lowerBound
    var text = page[body...].replacing(try Regex("<style>[^<]*</style>"), with: "")
    text = text.replacing(try Regex("<[^>]*>"), with: " ")
    for (name, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
      text = text.replacing(name, with: character)
    }
    return String(text)
  }

  @Test func `a report has every loss and count of the plan, the picture and no value of a row`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let bytes = StoreBytes(of: store)
    let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let refused = try text(of: self.page(store, to: dropping, in: directory))
    #expect(refused.contains("needs consent") && refused.contains("617 rows"))
    let page = try page(store, to: dropping, in: directory, "--accept-losses")
    let plan = try Tool(directory: directory.url)("plan", store.path, "--to", dropping, "--json").json()
    let losses = try #require(plan["losses"] as? [[String: Any]])
    #expect(losses.count == 1)
    let text = try text(of: page)
    #expect(text.contains("617 rows"))
    #expect(text.contains("1,234"))
    #expect(text.contains("the previous version is kept"))
    #expect(
      try #require(page.range(of: "id=\"losses\"")).lowerBound
        < (try #require(page.range(of: "id=\"store\"")).lowerBound))
    // The sign says the same as the colour.
    #expect(page.contains("<li class=\"bad\">"))
    #expect(page.contains("aria-hidden=\"true\">−</span>"))
    for step in try #require(plan["steps"] as? [[String: Any]]) where (step["rows"] as? Int ?? 0) > 0 {
      #expect(text.contains(try #require(step["summary"] as? String)))
    }
    #expect(page.contains("data-property=\"mood\""))
    #expect(!page.contains("merry"))
    #expect(!page.contains("note 1"))
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `the headline names what is lost, no sentence comes three times, and no path is told unless asked`() throws
  {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let models = try [
      Notebook.dropping(), Notebook.adding(), Notebook.requiring(), Notebook.converting(), Notebook.first(),
    ].enumerated().map { try Notebook.write($1, "Notebook \($0)", in: directory) }
    for (model, options) in models.map({ ($0, []) }) + [(models[0], ["--accept-losses"]), (models[1], ["--rehearse"])] {
      let tool = Tool(directory: directory.url)
      let outcome = tool.run(["report", store.path, "--to", model, "--output", "report.html"] + options)
      #expect(outcome.code == 0, "\(outcome.error)")
      let page = try String(contentsOf: directory.file("report.html"), encoding: .utf8)
      #expect(!page.contains(directory.url.path) && page.contains("Notebook.sqlite"))
      let sentences = Dictionary(grouping: try self.text(of: page).split(separator: /[.!?]\s|\s{2,}/), by: { $0 })
        .mapValues(\.count)
      #expect(sentences.filter { $0.value > 2 && $0.key.count > 25 }.isEmpty, "\(sentences.filter { $0.value > 2 })")
      guard model == models[0] else { continue }
      let verdict = try #require(page.firstMatch(of: /<p class="verdict [^>]*>(.*?)<\/p>/)).1
      #expect(verdict.contains("617 rows of Note.mood"), "\(verdict)")
    }
    #expect(try page(store, to: models[0], in: directory, "--full-paths").contains(store.path))
  }

  @Test func `a report has what doctor finds`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let page = try text(of: self.page(store, to: adding, in: directory))
    #expect(page.contains("No findings"), "\(page)")
    try Connection.execute("UPDATE ZNOTE SET Z_ENT = 77 WHERE Z_PK = 3", on: store.path)
    let tool = Tool(directory: directory.url)
    let findings = try #require(try tool("doctor", store.path, "--json").json()["findings"] as? [[String: Any]])
    let message = try #require(findings.compactMap { $0["message"] as? String }.first)
      .replacing(directory.url.path + "/", with: "")
    let damaged = try text(of: self.page(store, to: adding, in: directory))
    #expect(damaged.contains("1 warning") && damaged.contains(message), "\(damaged)")
  }

  @Test func `a report loads nothing, runs nothing and is well-formed`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let page = try page(store, to: Notebook.write(Notebook.adding(), "Adding", in: directory), in: directory)
    for word in ["<script", "http:", "https:", "url(", "@import", "<img", "<iframe", "<object", "<link", "src="] {
      #expect(!page.lowercased().contains(word), "\(word)")
    }
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    #expect(page.contains("width=device-width"))
    #expect(page.contains("<h1>"))
    // It is also XML, so that a missing end tag is found.
    let root = try MarkupReader.rootElement(of: Array(page.dropFirst("<!DOCTYPE html>\n".count).utf8))
    #expect(root.name == "html")
    var identifiers: [String] = []
    func collect(_ element: MarkupElement) {
      if let identifier = element["id"] { identifiers.append(identifier) }
      for child in element.children { collect(child) }
    }
    collect(root)
    #expect(Set(identifiers).count == identifiers.count)
    let sections = root.children(named: "body").flatMap { $0.children(named: "main") }.flatMap(\.children)
    #expect(sections.count >= 5)
    #expect(sections.allSatisfy { $0.name == "section" && $0.children.first?.name == "h2" })
  }

  @Test func `blockers are told with their choices, obstacles with what to do, and the exit code is 0 all the same`()
    throws
  {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    let requiring = try text(
      of: page(store, to: Notebook.write(Notebook.requiring(), "R", in: directory), in: directory))
    #expect(requiring.contains("can't be migrated yet"))
    #expect(requiring.contains("5 rows"))
    #expect(requiring.contains("--decide Note.author="))
    let converting = try text(
      of: page(store, to: Notebook.write(Notebook.converting(), "C", in: directory), in: directory))
    let difference = ModelDifference(from: try Notebook.first(), to: try Notebook.converting())
    #expect(difference.obstacles.count == 2)
    for obstacle in difference.obstacles {
      #expect(converting.contains(obstacle.reason))
      #expect(converting.contains(obstacle.suggestion))
    }
  }

  @Test func `a rehearsal tells its time, a store with the model that there is nothing to do`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    let bytes = StoreBytes(of: store)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    let arguments = ["report", store.path, "--to", adding, "--output", "report.html", "--rehearse", "--json"]
    #expect(try #require(try tool.run(arguments).json()["seconds"] as? Double) > 0)
    let rehearsed = try text(of: String(contentsOf: directory.file("report.html"), encoding: .utf8))
    #expect(rehearsed.contains("Measured time"))
    #expect(rehearsed.contains("was tried on a copy and works; nothing is lost"))
    #expect(StoreBytes(of: store) == bytes)
    let first = try Notebook.write(Notebook.first(), "First", in: directory)
    #expect(try text(of: page(store, to: first, in: directory)).contains("there is nothing to do"))
  }

  @Test func `what may have been renamed is asked with what the rows say`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    var entities = try Notebook.first().entities
    let index = try #require(entities[0].attributes.firstIndex { $0.name == "title" })
    entities[0].attributes[index].name = "titleText"
    let renamed = try Notebook.write(ManagedObjectModel(entities: entities), "Renamed", in: directory)
    let page = try text(of: page(store, to: renamed, in: directory))
    let suspicion = try #require(
      ModelDifference(from: try Notebook.first(), to: try ManagedObjectModel(entities: entities)).renames.first)
    #expect(page.contains("Perhaps renamed"))
    #expect(page.contains("titleText") && page.contains(suspicion.advice))
    #expect(page.contains("5"))
  }

  @Test func `names are text and nothing else`() throws {
    let directory = try TemporaryDirectory()
    let name = "<script>alert(\"1\")</script>&amp;'"
    func model(_ properties: [String]) throws -> ManagedObjectModel {
      let entity = Make.entity(name, properties.map { property in Make.attribute(property) })
      return try ManagedObjectModel(entities: [entity])
    }
    let first = try model(["</td><img src=x onerror=alert(1)>", "kept"])
    try PersistentStore.make(at: directory.file("<b>.sqlite"), model: first) { context in
      try context.insert(name).setValue(.string("secret"), forAttribute: "</td><img src=x onerror=alert(1)>")
    }
    let to = try Notebook.write(try model(["kept", "\u{202E}new"]), "\"><svg onload=alert(1)>", in: directory)
    let page = try page(directory.file("<b>.sqlite"), to: to, in: directory)
    for word in ["<script", "<img", "<svg onload", "<b>", "\u{202E}", "secret"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(try text(of: page).contains(name))
  }

  @Test func `a report takes the place of an earlier one and of nothing else`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 1)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    for _ in 0..<2 { #expect(tool("report", store.path, "--to", adding, "--output", "a.html").code == 0) }
    try Data("mine".utf8).write(to: directory.file("mine.html"))
    #expect(tool("report", store.path, "--to", adding, "--output", "mine.html").code == 1)
    #expect(try String(contentsOf: directory.file("mine.html"), encoding: .utf8) == "mine")
    #expect(tool("report", store.path, "--to", adding, "--output", store.path).code == 2)
    #expect(tool("report", store.path, "--to", adding).code == 2)
    #expect(tool("report", directory.file("absent").path, "--to", adding, "--output", "b.html").code == 1)
    #expect(!FileManager.default.fileExists(atPath: directory.file("b.html").path))
  }
}
