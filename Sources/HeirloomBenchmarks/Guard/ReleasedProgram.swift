import Foundation
import Heirloom

/// A released program beside this one: the tool that people download, or the smallest app.
struct ReleasedProgram {
  private let path: String

  /// Finds a program by the name of its product; `nil` if it wasn't built.
  init?(_ name: String) {
    guard let folder = Bundle.main.executableURL?.deletingLastPathComponent() else { return nil }
    path = folder.appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
  }

  /// Measures its size without symbols.
  ///
  /// - Parameter folder: An empty folder.
  /// - Returns: The bytes; `nil` if the command that removes symbols is missing.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` if that command fails.
  func strippedBytes(in folder: String) throws -> Double? {
    guard let strip = SystemCommand.path(of: "strip") ?? SystemCommand.path(of: "llvm-strip") else { return nil }
    let copy = PathText.join(folder, "stripped")
    _ = try SystemCommand.run(strip, ["-o", copy, path])
    return try POSIXFileOperations().status(of: copy).map { Double($0.size) }
  }

  /// Returns the names of the shared libraries that are loaded at its start, sorted; `nil` if no command lists them.
  func libraries() throws -> [String]? {
    guard let ldd = SystemCommand.path(of: "ldd") else { return nil }
    return try SystemCommand.run(ldd, [path]).split(separator: "\n").compactMap { line in
      line.contains("=>") ? line.split(whereSeparator: \.isWhitespace).first.map(String.init) : nil
    }.sorted()
  }
}
