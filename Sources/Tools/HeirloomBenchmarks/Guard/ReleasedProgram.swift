import Foundation
import Heirloom

/// A released program beside this one: the command-line tool, or the smallest app.
struct ReleasedProgram {
  private let path: String

  init?(_ name: String) {
    guard let folder = Bundle.main.executableURL?.deletingLastPathComponent() else { return nil }
    path = folder.appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
  }

  /// Strips a copy in `folder`; in bytes, `nil` if no strip command is installed.
  func strippedBytes(in folder: String) throws -> Double? {
    guard let strip = SystemCommand.path(of: "strip") ?? SystemCommand.path(of: "llvm-strip") else { return nil }
    let copy = PathText.join(folder, "stripped")
    _ = try SystemCommand.run(strip, ["-o", copy, path])
    return try POSIXFileOperations().status(of: copy).map { Double($0.size) }
  }

  /// Those loaded at start, sorted; `nil` if ldd isn't installed.
  func libraries() throws -> [String]? {
    guard let ldd = SystemCommand.path(of: "ldd") else { return nil }
    return try SystemCommand.run(ldd, [path]).split(separator: "\n").compactMap { line in
      line.contains("=>") ? line.split(whereSeparator: \.isWhitespace).first.map(String.init) : nil
    }.sorted()
  }
}
