import Foundation
import HeirloomCommands
import HeirloomStore

extension FuzzReader {
  /// Does everything with a store that the tool does, the migration last.
  func store(_ bytes: [UInt8]) throws -> FuzzStage {
    let place = folder.appendingPathComponent("store")
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let url = place.appendingPathComponent("Done.sqlite")
    let original = Data(bytes)
    try original.write(to: url)
    let models = FuzzSeeds.snapshots.appendingPathComponent("Done").path

    var stage = FuzzStage.container
    if Self.isDatabase(url) { stage = (try? StoreMetadata(contentsOf: url)) == nil ? .form : .content }
    for words in [
      ["inspect", url.path, "--properties", "--json"], ["inspect", url.path], ["doctor", url.path],
      ["verify", url.path],
      ["plan", url.path, "--to", models], ["compare", url.path, models],
    ] {
      _ = try run(words, in: place)
      guard try Data(contentsOf: url) == original else { throw FuzzFinding("\(words[0]) changed the store") }
    }
    let code = try run(["migrate", url.path, "--to", models, "--accept-losses", "--accept-version"], in: place)
    let kept = try Self.kept(in: place, of: url)
    if code == 0 {
      stage = .accepted
      guard kept.isEmpty || kept.contains(where: { Self.isSame($0, original) }) else {
        throw FuzzFinding("no previous version is what the store was before it was migrated")
      }
      guard try !kept.isEmpty || Self.isSame(Data(contentsOf: url), original) else {
        throw FuzzFinding("the store was changed and nothing was kept")
      }
    } else if try !Self.isSame(Data(contentsOf: url), original) {
      throw FuzzFinding("a migration that failed with \(code) changed the store")
    }
    return stage
  }

  /// Checks the time, the exit code and the output.
  func run(_ words: [String], in place: URL) throws -> Int32 {
    let written = Written()
    let console = Console(
      writeOutput: { text in written.text.withLock { $0 += text } },
      writeError: { text in written.text.withLock { $0 += text } }, currentDirectory: place.path)
    let start = FuzzBatch.processorSeconds()
    let code = HeirloomTool.run(arguments: words, console: console)
    guard FuzzBatch.processorSeconds() - start < Double(FuzzBatch.timeLimit) else {
      throw FuzzFinding("\(words[0]) took longer than \(FuzzBatch.timeLimit) s")
    }
    guard ExitCode(rawValue: code) != nil else { throw FuzzFinding("\(words[0]) ended with \(code)") }
    let text = written.text.withLock { $0 }
    // A name in a store must not command the terminal.
    if let odd = text.unicodeScalars.first(where: { $0.properties.generalCategory == .control && $0 != "\n" }) {
      throw FuzzFinding("\(words[0]) wrote the control character U+\(String(odd.value, radix: 16))")
    }
    if words.contains("--json"), (try? JSONSerialization.jsonObject(with: Data(text.utf8))) == nil {
      throw FuzzFinding("\(words[0]) wrote JSON that is none")
    }
    return code
  }

  private static func isDatabase(_ url: URL) -> Bool {
    guard let connection = try? Connection(path: url.path, mode: .immutable) else { return false }
    return (try? connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")) != nil
  }

  private static func kept(in place: URL, of url: URL) throws -> [Data] {
    let previous = URL(fileURLWithPath: url.path + ".heirloom/previous")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: previous.path)) ?? []
    return try names.map { try Data(contentsOf: previous.appendingPathComponent("\($0)/\(url.lastPathComponent)")) }
  }

  /// Ignores the bytes that a change of the journal mode rewrites.
  private static func isSame(_ file: Data, _ original: Data) -> Bool {
    guard file.count == original.count else { return false }
    if file == original { return true }
    var (file, original) = (Array(file), Array(original))
    for place in [18, 19] + Array(24..<28) + Array(92..<100) where place < file.count {
      file[place] = 0
      original[place] = 0
    }
    return file == original
  }

  private final class Written: Sendable {
    let text = Locked("")
  }
}
