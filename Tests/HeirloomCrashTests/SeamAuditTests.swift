import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing

/// The trace from which crash states are built: it must hold everything that a process really asks of the system.
struct SeamAuditTests {
  private static let strace: String? = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    .enabled(if: strace != nil, "strace is absent: the audit of the seam is left out"),
    arguments: [InitialState.rollbackAtRest, .uncheckpointedWAL, .persistedJournal, .externalData])
  func `what the tool asks of the system is what the trace holds`(_ initial: InitialState) throws {
    let strace = try #require(Self.strace)
    let tool = try #require(BuiltTool.url)
    let world = try CrashWorld(CrashScenario(initial: initial, operation: .migrate))
    let recorded = try QuickFolder()
    let traced = try QuickFolder()
    let elsewhere = try QuickFolder()
    try world.write(to: recorded.path)
    try world.write(to: traced.path)
    let before = Set(try FileManager.default.subpathsOfDirectory(atPath: traced.path))

    let trace = try SystemTrace(root: recorded.path)
    try world.perform(in: recorded.path, trace: trace)
    trace.close()
    var expected = CanonicalTrace(files: before)
    expected.add(trace.changes)

    for (index, model) in world.app.models.enumerated() {
      try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable)
        .write(to: elsewhere.url.appendingPathComponent("\(index + 1).json"))
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: strace)
    process.arguments = [
      "-f", "-y", "-s", "0", "-o", elsewhere.path + "/strace.txt", "-e",
      "trace=%file,write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,ftruncate,fallocate,fsync,fdatasync,sync,"
        + "syncfs,sync_file_range,ioctl,fsetxattr,fremovexattr",
      tool.path, "migrate", traced.path + "/" + CrashApp.storeName, "--to", elsewhere.path, "--json",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    var seen = CanonicalTrace(files: before)
    let text = try String(contentsOfFile: elsewhere.path + "/strace.txt", encoding: .utf8)
    let unknown = seen.add(strace: text, root: traced.path)
    #expect(unknown == [])
    #expect(seen.lines == expected.lines)
    #expect(seen.lines.count > 20)
    withExtendedLifetime((recorded, traced, elsewhere)) {}
  }
}
