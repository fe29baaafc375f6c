import Foundation
import HeirloomCommands
import HeirloomOutput
import HeirloomStore
import Testing

struct ProgressTextTests {
  private static let lines: [(ProgressText, Int, String)] = [
    (
      ProgressText(phase: "Writing", share: 0.45, seconds: 3), 80,
      "Writing  ██████████░░░░░░░░░░░░░░  45.0 %  4 s left"
    ),
    (ProgressText(phase: "Writing", share: 0.45, seconds: 3), 40, "Writing  █████░░░░░░░  45.0 %  4 s left"),
    (ProgressText(phase: "Writing", share: 0.45, seconds: 3), 30, "Writing  45.0 %  4 s left"),
    (ProgressText(phase: "Writing", share: 0.45, seconds: 3), 16, "Writing  45.0 %"),
    (ProgressText(phase: "Writing", share: 0.45, seconds: 3), 8, "Writin…"),
    // Nothing is done yet, so the time that is left isn't known.
    (ProgressText(phase: "Writing", share: 0, seconds: 2), 40, "Writing  ░░░░░░░░░░░░  0.0 %  2 s"),
    (ProgressText(phase: "Writing", share: 0.9, seconds: 600), 35, "Writing  90.0 %  1 min 7 s left"),
    // More work than expected is still no more than all.
    (ProgressText(phase: "Writing", share: 2.25, seconds: 1), 40, "Writing  ████████████  100.0 %  1 s"),
    // If nothing is counted there is no share.
    (ProgressText(phase: "Checking the store", seconds: 12.3), 80, "Checking the store …  12 s"),
    (ProgressText(phase: "Checking the store", seconds: 0.4), 80, "Checking the store …"),
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
        ProgressText(phase: phase, seconds: 99_999), ProgressText(phase: phase, share: 0.8, seconds: 0.1),
        ProgressText(phase: phase, share: 0.999_999, seconds: 1e300),
        ProgressText(phase: phase, share: 1e-19, seconds: 1e9), ProgressText(phase: phase, share: .nan, seconds: 1),
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

    /// What was written since the last call.
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
    #expect(scene.take() == "\r\u{1B}[KWriting  ░░░░░░░░░░░░░░░░░░░░░░░░  0.0 %")
    progress.completedUnitCount = 1000
    scene.pass(.seconds(2), reporter)
    #expect(scene.take() == "\r\u{1B}[KWriting  ████████████░░░░░░░░░░░░  50.0 %  2 s left")
    // The next phase goes on where this one stops, and so does the time.
    reporter.begin("Checking", counting: progress)
    progress.completedUnitCount = 1500
    scene.pass(.seconds(1), reporter)
    #expect(scene.take() == "\r\u{1B}[KChecking  ██████████████████░░░░░░  75.0 %  1 s left")
    reporter.begin("Writing", counting: progress)
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
