package import Foundation

/// The compiler of the toolchain, for tests of source that the library writes.
package enum SwiftCompiler {
  /// `nil` if there is none in PATH.
  package static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The modules of the build that the tests belong to; `nil` if they are not beside the tests.
  package static let modules: String? = BuiltTool.url.map {
    $0.deletingLastPathComponent().appendingPathComponent("Modules").path
  }
  .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

  package static func check(_ files: [URL], _ arguments: [String] = []) throws -> (code: Int32, output: String) {
    try run(["-typecheck", "-warnings-as-errors"] + arguments + files.map(\.path))
  }

  /// One of the files must be `main.swift`; the program links the library that the tests belong to.
  package static func build(_ files: [URL], as program: URL) throws -> (code: Int32, output: String) {
    let products = URL(fileURLWithPath: modules ?? "/").deletingLastPathComponent()
    var objects: [String] = []
    for module in [
      "HeirloomModel", "HeirloomMapping", "HeirloomFormats", "HeirloomStore", "HeirloomVault", "HeirloomMigration",
      "Heirloom", "CHeirloomPages",
    ] {
      let folder = products.appendingPathComponent("\(module).build").path
      // The package manager leaves the objects of files that have another name now.
      let names = try FileManager.default.subpathsOfDirectory(atPath: sources.appendingPathComponent(module).path)
      let sourceNames = Set(names.map { $0.split(separator: "/").last.map(String.init) ?? $0 })
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".o") && sourceNames.contains(String($0.dropLast(2).split(separator: "/").last ?? ""))
      }
      objects += files.map { "\(folder)/\($0)" }
    }
    // In batches, modules are loaded once for all files of a batch; linking in the same call doesn't find their
    // objects.
    let folder = program.deletingLastPathComponent()
    let compiled = try run(
      ["-c", "-enable-batch-mode", "-j", "\(ProcessInfo.processInfo.activeProcessorCount)"]
        + ["-module-name", "Program"] + Sanitizer.flags + files.map(\.path), in: folder)
    guard compiled.code == 0 else { return compiled }
    objects += files.map {
      folder.appendingPathComponent($0.deletingPathExtension().lastPathComponent + ".o").path
    }
    return try run(objects + Sanitizer.flags + ["-lsqlite3", "-lz", "-o", program.path])
  }

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources")

  private static func run(_ arguments: [String], in folder: URL? = nil) throws -> (code: Int32, output: String) {
    guard let modules else { throw CocoaError(.fileNoSuchFile) }
    let maps = ["CHeirloomSQLite", "CHeirloomZlib", "CHeirloomFiles", "CHeirloomPages"].flatMap {
      ["-I", sources.appendingPathComponent($0).path]
    }
    return try compile(["-I", modules] + maps + arguments, in: folder)
  }

  /// For what needs nothing of the library; `folder` is where the compiler runs.
  package static func compile(
    _ arguments: [String], in folder: URL? = nil
  ) throws -> (code: Int32, output: String) {
    guard let path else { throw CocoaError(.fileNoSuchFile) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    if let folder { process.currentDirectoryURL = folder }
    process.arguments = ["-swift-version", "6"] + arguments
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
