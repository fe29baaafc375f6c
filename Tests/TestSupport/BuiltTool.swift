package import Foundation

/// The executable that the package builds.
package enum BuiltTool {
  /// The tool, built into the folder of the test bundle.
  package static let url: URL? = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<4 {
      let candidate = folder.appendingPathComponent("heirloom-tool")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
      folder.deleteLastPathComponent()
    }
    return nil
  }()
}
