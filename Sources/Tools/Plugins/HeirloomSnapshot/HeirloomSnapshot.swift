import Foundation
import PackagePlugin

/// The command `heirloom-snapshot [MODEL …]`, which records each model's versions, up to the current one, as shipped.
///
/// Run it with `swift package --allow-writing-to-package-directory`. It writes snapshots and `lock.json` beside the
/// model bundle. Arguments after the command are passed to `heirloom snapshot` unchanged.
@main
struct HeirloomSnapshot: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let root = context.package.directoryURL
    guard let tool = try heirloom() else { return }
    let calls =
      arguments.isEmpty
      ? bundles(below: root).map { ["snapshot", $0.path, "--history", $0.deletingLastPathComponent().path] }
      : [["snapshot"] + arguments]
    guard !calls.isEmpty else {
      Diagnostics.error("There is no .xcdatamodeld below \(root.path).")
      return
    }
    for call in calls {
      let process = Process()
      process.executableURL = tool
      process.arguments = call
      process.currentDirectoryURL = root
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 {
        Diagnostics.error("heirloom \(call.joined(separator: " ")) ended with the code \(process.terminationStatus).")
      }
    }
  }

  /// Builds the tool, which takes a while the first time; `nil` if that fails.
  private func heirloom() throws -> URL? {
    let result = try packageManager.build(.product("heirloom-tool"), parameters: PackageManager.BuildParameters())
    let tool = result.builtArtifacts.first { $0.kind == .executable && $0.url.lastPathComponent == "heirloom-tool" }
    if !result.succeeded || tool == nil { Diagnostics.error("The tool heirloom can't be built: \(result.logText)") }
    return result.succeeded ? tool?.url : nil
  }

  /// Returns the package's model bundles, sorted by path.
  private func bundles(below root: URL) -> [URL] {
    let enumerator = FileManager.default.enumerator(
      at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    var bundles: [URL] = []
    while let url = enumerator?.nextObject() as? URL {
      guard url.pathExtension == "xcdatamodeld" else { continue }
      bundles.append(url)
      enumerator?.skipDescendants()
    }
    return bundles.sorted { $0.path < $1.path }
  }
}
