import TestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// An extended attribute of a file, which stands for all that a file may have: real where the system has such.
enum FileNote {
  private static let name = "user.heirloom.note"

  /// The note of the store before the operation; empty where files in memory have no attributes.
  static let expected: [UInt8] = {
    guard let folder = try? QuickFolder(), let stream = fopen(folder.path + "/a", "w") else { return [] }
    fclose(stream)
    write(Array("a note".utf8), folder.path + "/a")
    let note = read(folder.path + "/a")
    if note.isEmpty { print("crash scenarios: no extended attributes here, so none is followed") }
    return note
  }()

  static func read(_ path: String) -> [UInt8] { ExtendedAttributes.value(name, path) ?? [] }

  static func write(_ note: [UInt8], _ path: String) {
    if !note.isEmpty { ExtendedAttributes.set(name, note, path) }
  }
}
