import Foundation
import TestSupport
import Testing

import HeirloomMigration
import HeirloomVault

struct EarlyReadingTests {
  enum Subject: CaseIterable {
    case file, emptyFile, folder, pipe, nothing
  }

  @Test(arguments: Subject.allCases) func `a stopped reading has let go of what it read`(subject: Subject) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("subject").path
    switch subject {
    case .file: try Data(count: 3 << 20).write(to: directory.file("subject"))
    case .emptyFile: try Data().write(to: directory.file("subject"))
    case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .nothing: break
    }
    let reading = EarlyReading(of: path)
    reading.stop()
    #expect(!openFiles().contains(path))
    // A failure on the way out stops it twice.
    reading.stop()
  }

  private func openFiles() -> [String] {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
  }
}
