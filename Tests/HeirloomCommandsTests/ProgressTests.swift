import Foundation
import HeirloomCommands
import HeirloomOutput
import HeirloomStore
import Testing

struct ProgressTextTests {
  private static let lines: [(ProgressText, Int, String)] = [
    (
      ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 100,
      "Writing  ██████████░░░░░░░░░░░░░░  45 %  450,000 of 1,000,000 rows  150,000 rows/s  4 s left"
    ),
    (
      ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 80,
      "Writing  █████░░░░░░░  45 %  450,000 of 1,000,000 rows  4 s left"
    ),
    (
      ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 60,
      "Writing  45 %  450,000 of 1,000,000 rows  4 s left"
    ),
    (ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 40, "Writing  45 %  4 s left"),
    (ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 15, "Writing  45 %"),
    (ProgressText(phase: "Writing", completed: 450_000, total: 1_000_000, seconds: 3), 8, "Writin…"),
    // Nothing is done yet, so there is no rate and no time left.
    (ProgressText(phase: "Writing", total: 2000, seconds: 2), 60, "Writing  ░░░░░░░░░░░░  0 %  0 of 2,000 rows  2 s"),
    (
      ProgressText(phase: "Writing", completed: 90, total: 100, seconds: 600), 50,
      "Writing  90 %  90 of 100 rows  1 min 7 s left"
    ),
    // More work than expected is still no more than all.
    (ProgressText(phase: "Writing", completed: 9, total: 4, seconds: 1), 40, "Writing  100 %  4 of 4 rows  1 s"),
    // If nothing is counted there is no share, and one unit of work is not a row.
    (ProgressText(phase: "Checking the store", seconds: 12.3), 80, "Checking the store …  12 s"),
    (ProgressText(phase: "Checking the store", seconds: 0.4), 80, "Checking the store …"),
    (ProgressText(phase: "Writing", completed: 0, total: 1, seconds: 2), 80, "Writing …  2 s"),
    (ProgressText(phase: "Writing", completed: -5, total: -1, seconds: 2), 80, "Writing …  2 s"),
    (ProgressText(phase: "写入日记本", seconds: 2), 10, "写入日记…"),
  ]

  @Test(arguments: lines)
  func `a line tells what there is room for`(text: ProgressText, columns: Int, line: String) {
    #expect(text.line(columns: columns) == line)
  }

  @Test(arguments: ["Writing", "写入日记本的所有行", "e\u{301}crire 👩‍👩‍👧", ""])
  func `no line is wider than the terminal`(phase: String) {
    for columns in 0...130 {
      for text in [
        ProgressText(phase: phase, seconds: 99_999), ProgressText(phase: phase, completed: 7, total: 9, seconds: 0.1),
        ProgressText(phase: phase, completed: .max - 1, total: .max, seconds: 1e300),
        ProgressText(phase: phase, completed: 1, total: .max, seconds: 1e9),
      ] {
        #expect(TextLayout.width(of: text.line(columns: columns)) <= max(1, columns - 1))
      }
    }
  }

  @Test func `text is broken between words only`() {
    #expect(TextLayout.wrapped("a store and its model", to: 10, indent: 2) == ["a store", "  and its", "  model"])
    #expect(TextLayout.wrapped("extraordinary", to: 4) == ["extraordinary"])
    #expect(TextLayout.wrapped("an extraordinary case", to: 4) == ["an", "extraordinary", "case"])
    #expect(TextLayout.wrapped("", to: 4) == [""])
  }
}

struct ProgressReporterTests {
  /// A clock that stands still, and the text that was written.
  private final class Scene: Sendable {
    let time = Locked(ContinuousClock.now)
    let written = Locked("")

    var status: StatusLine { StatusLine { text in self.written.withLock { $0 += text } } }

    func reporter(
      _ form: ProgressReporter.Form, on status: StatusLine, interruption: Interruption = Interruption()
    ) -> ProgressReporter {
      ProgressReporter(form: form, status: status, interruption: interruption, ticks: false) {
        self.time.withLock { $0 }
      }
    }

    func pass(_ duration: Duration, _ reporter: ProgressReporter) {
      time.withLock { $0 += duration }
      reporter.tick()
    }

    /// Returns the text that was written since the last call.
    func take() -> String {
      written.withLock { text in
        defer { text = "" }
        return text
      }
    }
  }

  @Test func `a terminal sees a line that changes, after a moment`() {
    let scene = Scene()
    let status = scene.status
    let reporter = scene.reporter(.bar { 60 }, on: status)
    let progress = Progress(totalUnitCount: 2000)
    scene.pass(.seconds(1), reporter)
    #expect(scene.take().isEmpty)
    reporter.begin("Planning")
    scene.pass(.milliseconds(299), reporter)
    #expect(scene.take().isEmpty)
    reporter.begin("Writing", counting: progress)
    scene.pass(.milliseconds(1), reporter)
    #expect(scene.take() == "\r\u{1B}[KWriting  ░░░░░░░░░░░░░░░░░░░░░░░░  0 %  0 of 2,000 rows")
    progress.completedUnitCount = 1000
    scene.pass(.seconds(2), reporter)
    #expect(scene.take() == "\r\u{1B}[KWriting  ██████░░░░░░  50 %  1,000 of 2,000 rows  2 s left")
    // A lasting message takes the line's place.
    status.writeLine("note: something")
    #expect(scene.take() == "\r\u{1B}[Knote: something\n")
    scene.pass(.seconds(2), reporter)
    #expect(scene.take().hasPrefix("\r\u{1B}[KWriting"))
    reporter.finish()
    #expect(scene.take() == "\r\u{1B}[K")
    scene.pass(.seconds(2), reporter)
    reporter.begin("Again")
    scene.pass(.seconds(2), reporter)
    #expect(scene.take().isEmpty)
  }

  @Test func `anything else gets a plain line a phase`() {
    let scene = Scene()
    let reporter = scene.reporter(.lines, on: scene.status)
    reporter.begin("Planning")
    scene.pass(.milliseconds(200), reporter)
    reporter.begin("Writing", counting: Progress(totalUnitCount: 10))
    for _ in 0..<3 { scene.pass(.milliseconds(200), reporter) }
    reporter.begin("Checking")
    for _ in 0..<3 { scene.pass(.milliseconds(200), reporter) }
    reporter.finish()
    #expect(scene.take() == "Writing …\nChecking …\n")
  }

  @Test func `what is over in a moment is not told`() {
    for form in [ProgressReporter.Form.lines, .bar { 80 }, .silent] {
      let scene = Scene()
      let reporter = scene.reporter(form, on: scene.status)
      reporter.begin("Planning")
      scene.pass(.milliseconds(250), reporter)
      reporter.finish()
      #expect(scene.take().isEmpty)
    }
    let scene = Scene()
    let reporter = scene.reporter(.silent, on: scene.status)
    reporter.begin("Planning")
    scene.pass(.seconds(250), reporter)
    reporter.finish()
    #expect(scene.take().isEmpty)
  }

  @Test func `who wants to stop is told that it was heard`() {
    let scene = Scene()
    let interruption = Interruption()
    let reporter = scene.reporter(.bar { 80 }, on: scene.status, interruption: interruption)
    reporter.begin("Writing")
    interruption.interrupt()
    scene.pass(.seconds(1), reporter)
    #expect(scene.take().contains("Stopping (Ctrl-C once more ends at once)"))
  }
}
