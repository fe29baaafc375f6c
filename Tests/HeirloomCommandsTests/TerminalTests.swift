import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing
import HeirloomSalvage

/// The built tool as a person uses it: on a terminal, with colours, a line that changes, and Ctrl-C.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"))
struct TerminalTests {
  enum Surroundings: CaseIterable, Sendable {
    case terminal, narrowTerminal, noColor, dumbTerminal, pipe

    var columns: Int? {
      switch self {
      case .terminal, .noColor, .dumbTerminal: 100
      case .narrowTerminal: 20
      case .pipe: nil
      }
    }

    var environment: [String: String] {
      switch self {
      case .noColor: ["NO_COLOR": "1"]
      case .dumbTerminal: ["TERM": "dumb"]
      default: [:]
      }
    }
  }

  /// As a terminal shows it on one line.
  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// A store of a small app, the model to migrate it to, and its lock, which another process has.
  private struct Scene {
    let directory: TemporaryDirectory
    let store: URL
    let model: String
    let lock: HeldLock

    init() throws {
      directory = try TemporaryDirectory()
      store = try Notebook.makeStore(in: directory, count: 3)
      model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
      lock = try HeldLock(ofStoreAt: store)
    }
  }

  @Test(arguments: Surroundings.allCases)
  func `colours and a line that changes are for terminals`(surroundings: Surroundings) throws {
    let scene = try Scene()
    let tool = try PseudoTerminal(
      ["migrate", scene.store.path, "--to", scene.model], columns: surroundings.columns,
      environment: surroundings.environment)
    tool.wait(for: surroundings == .narrowTerminal ? "Looking at the sto…" : "Looking at the store …")
    scene.lock.release()
    #expect(tool.end() == 0, "\(tool.text)")
    #expect(Self.words(tool.text).contains("was migrated to"))
    let plain = tool.text.replacingOccurrences(of: "\r\n", with: "\n")
    switch surroundings {
    case .terminal, .narrowTerminal:
      #expect(plain.hasPrefix("\r\u{1B}[KLooking"))
      #expect(plain.contains("\u{1B}[1m"))
      // Progress text is removed before lasting text is written.
      let parts = plain.components(separatedBy: "\r\u{1B}[K")
      #expect(parts.dropLast().allSatisfy { !$0.contains("\n") && $0.count < surroundings.columns ?? 0 })
      #expect(!(parts.last ?? "").contains("Looking"))
    case .noColor, .dumbTerminal, .pipe:
      #expect(plain.hasPrefix("Looking at the store …\n"))
      #expect(!plain.contains("\u{1B}") && !plain.contains("\r"))
    }
  }

  @Test func `a program that reads the output is told nothing on the way`() throws {
    let scene = try Scene()
    let tool = try PseudoTerminal(["migrate", scene.store.path, "--to", scene.model, "--json"], columns: 80)
    Thread.sleep(forTimeInterval: 0.6)
    scene.lock.release()
    #expect(tool.end() == 0)
    #expect(tool.text.hasPrefix("{"))
    #expect(!tool.text.contains("\u{1B}"))
  }

  @Test func `who stops a migration that waits is told in one sentence that nothing was changed`() throws {
    for more in [[], ["--json"]] {
      let scene = try Scene()
      let before = StoreBytes(of: scene.store)
      let tool = try PseudoTerminal(["migrate", scene.store.path, "--to", scene.model] + more, columns: 80)
      if more.isEmpty { tool.wait(for: "Looking at the store …") } else { tool.waitForListener() }
      tool.stop()
      #expect(tool.end() == 130, "\(tool.text)")
      let sentence = "Cancelled: \(scene.store.path) is as it was before."
      if more.isEmpty {
        let told = "\u{1B}[31mheirloom:\u{1B}[0m \(sentence)"
        #expect(tool.text.contains("\r\u{1B}[K\u{1B}[31mheirloom:") && Self.words(tool.text).hasSuffix(told))
      } else {
        let json = try #require(try JSONSerialization.jsonObject(with: Data(tool.text.utf8)) as? [String: Any])
        let error = try #require(json["error"] as? [String: Any])
        #expect(error["code"] as? String == "cancelled")
        #expect(error["message"] as? String == sentence)
        #expect(error["storeAt"] as? String == scene.store.path)
      }
      #expect(StoreBytes(of: scene.store) == before)
    }
  }

  @Test(.disabled(if: Sanitizer.isOn, Sanitizer.reason))
  func `a second Ctrl-C ends the tool at once`() throws {
    let scene = try Scene()
    let before = StoreBytes(of: scene.store)
    // A restore needs a version; nothing is inspected while the lock is held.
    scene.lock.release()
    #expect(
      Tool(directory: scene.store.deletingLastPathComponent())("migrate", scene.store.path, "--to", scene.model).code
        == 0)
    let migrated = StoreBytes(of: scene.store)
    #expect(migrated != before)
    let lock = try HeldLock(ofStoreAt: scene.store)
    let tool = try PseudoTerminal(["restore", scene.store.path], columns: 80)
    tool.wait(for: "Bringing the version back …")
    tool.stop()
    tool.wait(for: "Stopping (Ctrl-C once more ends at once)")
    let start = ContinuousClock.now
    tool.stop()
    #expect(tool.end() == 130)
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(tool.text.hasSuffix("\r\n"))
    #expect(StoreBytes(of: scene.store) == migrated)
    withExtendedLifetime(lock) {}
  }
}

struct CancellingTests {
  /// Its user has pressed Ctrl-C before it does anything.
  private func stopped(_ directory: URL, environment: [String: String] = [:]) -> Tool {
    let tool = Tool(directory: directory, environment: environment)
    tool.interruption.interrupt()
    return tool
  }

  private func names(in folder: URL) -> [String] {
    (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []).sorted()
  }

  @Test func `a restoration that is stopped leaves the store as it was`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 42)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(Tool(directory: directory.url)("migrate", "Notebook.sqlite", "--to", model).code == 0)
    let before = try StoreContents(of: store, model: Notebook.adding())
    let files = names(in: directory.url)
    let outcome = stopped(directory.url)("restore", "Notebook.sqlite", "--json")
    #expect(outcome.code == 130, "\(outcome.output)")
    #expect(try outcome.failure()["code"] as? String == "cancelled")
    let text = stopped(directory.url)("restore", "Notebook.sqlite")
    #expect(text.error == "heirloom: Cancelled: \(store.path) is as it was before.\n")
    #expect(try StoreContents(of: store, model: Notebook.adding()) == before)
    #expect(names(in: directory.url) == files)
    #expect(Tool(directory: directory.url)("restore", "Notebook.sqlite").code == 0)
    #expect(try StoreMetadata(contentsOf: store).isCompatible(with: Notebook.first()))
  }

  @Test func `a rehearsal that is stopped leaves nothing behind`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let temporary = try TemporaryDirectory()
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let bytes = StoreBytes(of: store)
    let outcome = stopped(directory.url, environment: ["TMPDIR": temporary.url.path])(
      "rehearse", "Notebook.sqlite", "--to", model, "--accept-losses")
    #expect(outcome.code == 130)
    #expect(outcome.error == "heirloom: Cancelled: \(store.path) is as it was before.\n")
    #expect(names(in: temporary.url).isEmpty)
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `a store that was not salvaged to the end is not there`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let files = names(in: directory.url)
    let bytes = StoreBytes(of: store)
    let outcome = stopped(directory.url)("salvage", "Notebook.sqlite", "--output", "New.sqlite", "--json")
    #expect(outcome.code == 130, "\(outcome.output)")
    #expect(try outcome.failure()["code"] as? String == "cancelled")
    #expect(names(in: directory.url) == files)
    #expect(StoreBytes(of: store) == bytes)
    // The result is the same at any later moment.
    var moments = 0
    while moments < 100 {
      let asked = Counter()
      let last = moments + 1
      var salvage = StoreSalvage(storeURL: store)
      salvage.isCancelled = { asked.next() >= last }
      do throws(SalvageError) {
        _ = try salvage.run(to: directory.file("New.sqlite"))
        break
      } catch {
        #expect(error.problem == .cancelled)
        #expect(names(in: directory.url) == files)
      }
      moments += 1
    }
    #expect((4..<100).contains(moments))
  }

  @Test(arguments: [
    ["verify", "Notebook.sqlite"], ["plan", "Notebook.sqlite", "--to", "Adding.json"], ["inspect", "Notebook.sqlite"],
    ["doctor", "Notebook.sqlite"],
  ])
  func `what only reads ends at once`(arguments: [String]) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let ends = Counter()
    var tool = Tool(directory: directory.url)
    tool.interruption = Interruption { code in if code == 130 { ends.next() } }
    tool.interruption.interrupt()
    // The process continues here: its later words don't matter.
    let outcome = tool.run(arguments)
    #expect(outcome.error.hasPrefix("heirloom: Cancelled: \(store.path) is as it was before.\n"), "\(outcome.error)")
    #expect(ends.value == 1)
    #expect(tool.run(arguments + ["--json"]).output.hasPrefix("{"))
  }
}
