import HeirloomModel

/// The figures of too little room on a volume, found before anything was begun.
public struct SpaceShortage: Hashable, Sendable {
  /// The store.
  public let storePath: String
  /// The folder on the volume that lacks room, in which the store lies.
  public let folder: String
  /// The system's name of the volume's file system, such as `ext4`; empty if the system doesn't tell.
  public let fileSystem: String
  /// The bytes that must be free: the new store, copies of the old one where the volume has no links, and a reserve.
  public let neededBytes: UInt64
  /// The part of `neededBytes` for copies of what is kept; 0 where links keep it.
  public let previousVersionBytes: UInt64
  /// The part of `neededBytes` that stays free, for everything else on the volume.
  package let reservedBytes: UInt64
  /// The bytes that are free for this process.
  public let availableBytes: UInt64

  /// Creates the figures.
  package init(
    storePath: String, folder: String, fileSystem: String, neededBytes: UInt64, previousVersionBytes: UInt64,
    reservedBytes: UInt64 = 0, availableBytes: UInt64
  ) {
    self.storePath = storePath
    self.folder = folder
    self.fileSystem = fileSystem
    self.neededBytes = neededBytes
    self.previousVersionBytes = previousVersionBytes
    self.reservedBytes = reservedBytes
    self.availableBytes = availableBytes
  }
}

extension SpaceShortage: CustomStringConvertible {
  /// One sentence with what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let name = fileSystem.isEmpty ? "" : " (\(fileSystem))"
    let copies =
      (previousVersionBytes == 0 ? "" : ", \(CountText.size(previousVersionBytes)) of them for copies of what is kept")
      + (reservedBytes == 0 ? "" : ", \(CountText.size(reservedBytes)) of them to stay free for everything else")
    let (free, needed) = (CountText.size(availableBytes), CountText.size(neededBytes))
    // Two figures that look the same when rounded would read as nonsense.
    let figures =
      free == needed
      ? "\(CountText.counted(availableBytes, "byte")) left, and \(CountText.grouped(neededBytes))"
      : "\(free) left, and \(needed)"
    return
      "the volume of \"\(storePath)\"\(name) has \(figures) are needed\(copies)"
  }
}
