import HeirloomModel

/// The figures of a volume with too little space, found before anything was changed.
public struct SpaceShortage: Hashable, Sendable {
  /// The store.
  public let storePath: String
  /// The folder that holds the store, on the volume that lacks space.
  public let folder: String
  /// The system's name of the volume's file system, such as `ext4`; empty if the system doesn't report it.
  public let fileSystem: String
  /// The bytes that must be free: the new store, copies of the old one where the volume has no links, and a reserve.
  public let neededBytes: UInt64
  /// The part of `neededBytes` for copies of the previous version; 0 where it is kept by links.
  public let previousVersionBytes: UInt64
  package let reservedBytes: UInt64
  /// The bytes that this process can still write.
  public let availableBytes: UInt64

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
  /// One sentence with the free and the needed space.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let name = fileSystem.isEmpty ? "" : " (\(fileSystem))"
    let copies =
      (previousVersionBytes == 0
        ? ""
        : ", \(CountText.size(previousVersionBytes)) of them for copies of the previous version")
      + (reservedBytes == 0 ? "" : ", \(CountText.size(reservedBytes)) of them as a reserve")
    let (free, needed) = (CountText.size(availableBytes), CountText.size(neededBytes))
    // Two sizes that are equal when rounded would make no sense.
    let figures =
      free == needed
      ? "\(CountText.counted(availableBytes, "byte")) left, and \(CountText.grouped(neededBytes))"
      : "\(free) left, and \(needed)"
    return
      "the volume of \"\(storePath)\"\(name) has \(figures) are needed\(copies)"
  }
}
