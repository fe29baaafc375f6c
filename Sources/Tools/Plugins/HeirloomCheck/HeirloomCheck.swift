import Foundation
import PackagePlugin

/// The command `swift package heirloom-check [DIRECTORY] [OPTION …]`, which checks the package's model histories.
///
/// Without a folder, it checks all folders with a `lock.json` beside models, and model bundles without one. Other
/// arguments are passed to `heirloom check` unchanged.
@main
struct HeirloomCheck: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let root = context.package.directoryURL
    guard let tool = try heirloom() else { return }
    // Options may have values, so only the first argument is certainly a folder.
    let namesFolder = arguments.first.map { !$0.hasPrefix("-") } ?? false
    let calls =
      namesFolder
      ? [["check"] + arguments] : histories(below: root).map { ["check", $0.path] + arguments }
    guard !calls.isEmpty else {
      Diagnostics.error("There is no model history below \(root.path).")
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

  /// Returns the package's histories, sorted by path.
  private func histories(below root: URL) -> [URL] {
    let files = FileManager.default
    let enumerator = files.enumerator(at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    var histories: Set<URL> = []
    while let url = enumerator?.nextObject() as? URL {
      let folder = url.deletingLastPathComponent()
      let names = (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
      if url.pathExtension == "xcdatamodeld" {
        // If a folder has several bundles, each has its own lock and history.
        let isAlone = names.count { $0.hasSuffix(".xcdatamodeld") } == 1
        histories.insert(isAlone && names.contains("lock.json") ? folder : url)
        enumerator?.skipDescendants()
      } else if url.lastPathComponent == "lock.json",
        names.contains(where: { $0.hasSuffix(".json") && $0 != "lock.json" })
      {
        histories.insert(folder)
      }
    }
    return histories.sorted { $0.path < $1.path }
  }
}
