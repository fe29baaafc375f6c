import Foundation
import HeirloomModel
import TestSupport
import Testing

/// Chromium without a window, where it is installed.
enum Browser {
  static let program: URL? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    for name in ["chromium", "chromium-browser", "google-chrome"] {
      for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
        return URL(fileURLWithPath: "\(folder)/\(name)")
      }
    }
    return nil
  }()

  /// With a profile of its own and a time limit; returns standard output.
  static func run(_ arguments: [String], in directory: TemporaryDirectory) throws -> String {
    let executable = try #require(program)
    let process = Process()
    process.executableURL = executable
    process.arguments =
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--allow-file-access-from-files", "--user-data-dir=\(directory.file("profile-\(UUID().uuidString)").path)",
      ] + arguments
    // This is a file, not a pipe: children of the browser that outlive it would hold the pipe's end.
    let output = directory.file("output-\(UUID().uuidString)")
    try Data().write(to: output)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let end = ContinuousClock.now + .seconds(120)
    while process.isRunning {
      if ContinuousClock.now > end {
        _ = kill(process.processIdentifier, SIGKILL)
        Issue.record("the browser did not end")
        break
      }
      Thread.sleep(forTimeInterval: 0.02)
    }
    process.waitUntilExit()
    return try String(contentsOf: output, encoding: .utf8)
  }
}

@Suite(
  .enabled(if: LongTests.areOn, "a browser takes seconds to start: HEIRLOOM_LONG_TESTS=1"),
  .enabled(if: Browser.program != nil, "Chromium is absent (apt-get install chromium): no page was looked at"))
struct BrowserTests {
  /// A page that shows a report as wide as a phone and as a desk, and tells in its title how wide the reports became.
  private static let frames = """
    <!DOCTYPE html><html><body style="margin:0"><iframe id="phone" src="report.html" width="390" height="844"></iframe>
    <iframe id="desk" src="report.html" width="1280" height="900"></iframe><p id="told"></p><script>
    window.onload = () => {
      const tell = name => {
        const page = document.getElementById(name).contentDocument;
        const size = parseFloat(page.defaultView.getComputedStyle(page.body).fontSize);
        return name + ' ' + page.documentElement.scrollWidth + ' ' + page.documentElement.clientWidth + ' ' + size + ' '
          + page.querySelectorAll('section').length;
      };
      document.getElementById('told').textContent = tell('phone') + ', ' + tell('desk') + ';';
    };</script></body></html>
    """

  @Test func `a browser shows a report on a phone and on a desk without scrolling sideways, light and dark`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let entity = Make.entity(
      String(repeating: "Entity", count: 30),
      [AttributeDescription(name: String(repeating: "attribute", count: 20), type: .string)])
    let model = try ManagedObjectModel(entities: Notebook.requiring().entities + [entity])
    let to = try Notebook.write(model, String(repeating: "Version", count: 20), in: directory)
    let tool = Tool(directory: directory.url)
    #expect(tool("report", store.path, "--to", to, "--output", "report.html").code == 0)
    try Data(Self.frames.utf8).write(to: directory.file("frames.html"))
    let dom = try Browser.run(["--dump-dom", directory.file("frames.html").absoluteString], in: directory)
    let told = try #require(dom.firstMatch(of: /phone (\d+) (\d+) ([\d.]+) (\d+), desk (\d+) (\d+) ([\d.]+) (\d+);/))
    #expect(told.1 == told.2, "the page is wider than the phone: \(told.0)")
    #expect(told.5 == told.6, "the page is wider than the desk: \(told.0)")
    #expect(try #require(Double(told.3)) >= 16)
    #expect(try #require(Int(told.4)) >= 5)
    // The dark and the light page differ, and neither is empty.
    let page = directory.file("report.html").absoluteString
    var pictures: [Data] = []
    for scheme in ["0", "1"] {
      let picture = directory.file("scheme-\(scheme).png")
      _ = try Browser.run(
        [
          "--screenshot=\(picture.path)", "--window-size=800,1200", "--blink-settings=preferredColorScheme=\(scheme)",
          page,
        ], in: directory)
      pictures.append(try Data(contentsOf: picture))
    }
    #expect(pictures.allSatisfy { $0.count > 20_000 })
    #expect(pictures[0] != pictures[1])
  }
}
