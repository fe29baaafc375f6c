import Foundation
import PackagePlugin

/// Generates types for each `.xcdatamodeld` of a target, from its current version, and compiles them with the target.
///
/// The types are internal, in an enumeration named after the bundle with the suffix `Model`. For public types, or those
/// of another version such as a migration's source, run `heirloom generate`.
@main
struct HeirloomGenerate: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    guard let tool = (try? context.tool(named: "HeirloomMain").url) ?? installedTool() else {
      Diagnostics.error(
        "HeirloomGenerate needs the tool: install heirloom in a folder of PATH, or let the build make it by a trait of"
          + " the package: .package(…, traits: [.defaults, \"GeneratedTypes\"]).")
      return []
    }
    return try bundles(below: target.directoryURL).map { bundle in
      let name = bundle.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)Model.generated.swift")
      return .buildCommand(
        displayName: "Types of \(bundle.lastPathComponent), by \(tool.path)", executable: tool,
        arguments: ["generate", bundle.path, "--output", output.path], inputFiles: try files(of: bundle),
        outputFiles: [output])
    }
  }

  /// Returns the first tool in a folder of PATH; `nil` if none is installed.
  private func installedTool() -> URL? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { URL(fileURLWithPath: String($0), isDirectory: true).appending(path: "heirloom") }
      .first { tool in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: tool.path, isDirectory: &isFolder) && !isFolder.boolValue
          && FileManager.default.isExecutableFile(atPath: tool.path)
      }
  }

  /// Returns the model bundles in a folder, sorted by path.
  private func bundles(below folder: URL) -> [URL] {
    let enumerator = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var bundles: [URL] = []
    while let url = enumerator?.nextObject() as? URL {
      guard url.pathExtension == "xcdatamodeld" else { continue }
      bundles.append(url)
      enumerator?.skipDescendants()
    }
    return bundles.sorted { $0.path < $1.path }
  }

  /// Returns the files that a bundle's types depend on: the versions, the file that names the current one, and the
  /// lock, which detects a version edited after it shipped.
  private func files(of bundle: URL) throws -> [URL] {
    let name = bundle.deletingPathExtension().lastPathComponent
    let locks = ["\(name).lock.json", "lock.json"].map { bundle.deletingLastPathComponent().appending(path: $0) }
    return try locks.filter { FileManager.default.fileExists(atPath: $0.path) }
      + FileManager.default.subpathsOfDirectory(atPath: bundle.path).sorted().map { bundle.appending(path: $0) }
      .filter { !$0.hasDirectoryPath && $0.pathExtension != "xcdatamodel" }
  }
}
