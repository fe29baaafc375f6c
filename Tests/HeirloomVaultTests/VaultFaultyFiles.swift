import Foundation
import HeirloomMigration
import HeirloomStore
import HeirloomVault
import TestSupport

/// A file system that refuses calls on demand, and records all of them.
///
/// Where calls fail by their number, identifiers are numbers too, so that equal faults leave equal files.
final class FaultyFiles: ForwardingFiles {
  enum Fault: Sendable {
    case none
    /// Counted from 1.
    case once(Int)
    /// The call of this number and all after it: to the vault, the process seems to have died.
    case forever(Int)
    case matching(@Sendable (FileError.Operation, String) -> Bool)
  }

  struct State {
    var calls: [(operation: FileError.Operation, path: String)] = []
    var hits = 0
    var identifiers = 0
  }

  let base: any FileOperations = POSIXFileOperations(followsLinks: false)
  private let fault: Fault
  private let code: Int32
  private let refusesLinks: Bool
  let losesProtection: Bool
  private let volumeKind: VolumeInformation.Kind?
  private let availableBytes: UInt64?
  private let state = Locked(State())

  init(
    _ fault: Fault = .none, code: Int32 = EIO, refusesLinks: Bool = false, losesProtection: Bool = false,
    volumeKind: VolumeInformation.Kind? = nil,
    availableBytes: UInt64? = nil
  ) {
    self.fault = fault
    self.code = code
    self.refusesLinks = refusesLinks
    self.losesProtection = losesProtection
    self.volumeKind = volumeKind
    self.availableBytes = availableBytes
  }

  var hits: Int { state.withLock(\.hits) }
  var calls: [(operation: FileError.Operation, path: String)] { state.withLock(\.calls) }

  func willCall(_ operation: FileError.Operation, _ path: String, _ other: String?) throws(FileError) {
    let fails = state.withLock { state in
      state.calls.append((operation, path))
      let fails =
        switch fault {
        case .none: false
        case .once(let number): state.calls.count == number
        case .forever(let number): state.calls.count >= number
        case .matching(let matches): matches(operation, path)
        }
      if fails { state.hits += 1 }
      return fails
    }
    if fails { throw FileError(operation, path, to: other, code: code) }
  }

  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try willCall(.write, path, nil)
    } catch {
      // A disk may fail in the middle, and then not even let the half be removed.
      try? base.writeNewFile(path, bytes: Array(bytes.prefix(bytes.count / 2)), attributes: attributes)
      throw error
    }
    try base.writeNewFile(path, bytes: bytes, attributes: attributes)
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    try willCall(.link, path, newPath)
    if refusesLinks { throw FileError(.link, path, to: newPath, code: EPERM) }
    try base.link(path, to: newPath)
  }

  func hold(_ path: String) throws(FileError) -> any HeldFile {
    try willCall(.read, path, nil)
    return FaultyHeldFile(files: self, path: path, held: try base.hold(path))
  }

  func volume(of path: String) throws(FileError) -> VolumeInformation {
    try willCall(.volume, path, nil)
    let volume = try base.volume(of: path)
    return VolumeInformation(
      kind: volumeKind ?? volume.kind, fileSystemName: volume.fileSystemName,
      availableBytes: availableBytes ?? volume.availableBytes)
  }

  func uniqueIdentifier() -> String {
    switch fault {
    case .once, .forever: break
    case .none, .matching: return base.uniqueIdentifier()
    }
    let number = state.withLock { state in
      state.identifiers += 1
      return state.identifiers
    }
    let digits = String(number, radix: 16)
    // The first eight digits are part of the name of a version.
    return String(repeating: "0", count: 8 - digits.count) + digits + String(repeating: "f", count: 24)
  }
}

private final class FaultyHeldFile: ForwardingHeldFile {
  let files: FaultyFiles
  let path: String
  let held: any HeldFile

  init(files: FaultyFiles, path: String, held: any HeldFile) {
    self.files = files
    self.path = path
    self.held = held
  }

  func willCall(_ operation: FileError.Operation, _ other: String?) throws(FileError) {
    if operation == .giveAttributes, let other { return try files.willCall(operation, other, nil) }
    try files.willCall(operation, path, other)
  }

  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    do throws(FileError) {
      try willCall(.copy, path)
    } catch {
      // Half a copy stays.
      try? POSIXFileOperations().writeNewFile(path, bytes: [0x53, 0x51], attributes: attributes)
      throw error
    }
    return try held.copy(to: path, attributes: attributes)
  }

  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    try willCall(.giveAttributes, path)
    var left = try held.giveProtection(to: path)
    if files.losesProtection { left.note("the protection class") }
    return left
  }
}
