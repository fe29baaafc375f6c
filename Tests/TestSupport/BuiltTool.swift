package import Foundation

/// The executable `heirloom-tool`, which the build puts beside the test bundle or above it.
package enum BuiltTool {
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
