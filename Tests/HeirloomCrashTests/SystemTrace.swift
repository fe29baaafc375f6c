import CCrashVFS
import Foundation
import HeirloomMigration
import HeirloomStore

/// The only trace of the vault's and SQLite's calls below a folder, and the place where calls are made to fail.
///
/// The vault's calls come from ``TracedFiles``, SQLite's from the layer around its own. A trace ends with ``close()``.
final class SystemTrace: Sendable {
  /// The effect of a call, as far as it decides how the call may fail.
  enum Kind: Hashable, Sendable {
    /// A reading of content, names or a status.
    case read
    /// A call that needs room on the disk: content, or a new name.
    case grow
    /// A change of names: making, linking, renaming or removing.
    case name
    /// A change of content that needs no room.
    case write
    case synchronize
  }

  struct Fault: Hashable, Sendable {
    /// The first call that fails, counted from 1 among those of the kinds.
    var number: Int
    /// True when all later calls of these kinds fail as well.
    var lasts: Bool
    var code: Int32
    var kinds: Set<Kind>
  }

  private struct State {
    var changes: [SystemChange] = []
    var calls: [Set<Kind>] = []
    var count = 0
    var hits = 0
    var identifiers: UInt64
    var isDead = false
  }

  let root: String
  private let fault: Fault?
  private let state: Locked<State>
  private let number = Locked<Int32>(-1)

  /// Symbolic links in `root` must be followed already; equal seeds give equal identifiers.
  init(root: String, fault: Fault? = nil, seed: UInt64 = 1) throws {
    self.root = root
    self.fault = fault
    state = Locked(State(identifiers: seed << 32))
    guard crash_vfs_install() == 0 else { throw POSIXError(.EIO) }
    // The context is not retained: `close` ends the watching before the trace goes.
    let context = Unmanaged.passUnretained(self).toOpaque()
    let given = crash_vfs_watch(
      root,
      { context, event in
        guard let context, let event else { return 0 }
        return Unmanaged<SystemTrace>.fromOpaque(context).takeUnretainedValue().handle(event.pointee)
      }, context)
    guard given >= 0 else { throw POSIXError(.EMFILE) }
    number.withLock { $0 = given }
  }

  /// Connections to files below the folder must be closed first.
  func close() {
    number.withLock { number in
      if number >= 0 { crash_vfs_forget(number) }
      number = -1
    }
  }

  deinit { close() }

  var changes: [SystemChange] { state.withLock(\.changes) }
  /// In order; recorded only without a fault.
  var calls: [Set<Kind>] { state.withLock(\.calls) }
  var hits: Int { state.withLock(\.hits) }

  func relative(_ path: String) -> String {
    path == root ? "" : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  func record(_ change: SystemChange) {
    state.withLock { $0.changes.append(change) }
  }

  func nextIdentifier() -> String {
    let number = state.withLock { state in
      state.identifiers += 1
      return state.identifiers
    }
    // The bits are spread over all digits: a version's name shows the first eight.
    var random = number
    func next() -> UInt64 {
      random &+= 0x9e37_79b9_7f4a_7c15
      var mixed = random
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
    return [next(), next()].map { value in
      let text = String(value, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
  }

  /// Makes all later calls fail, as if the process were gone.
  func die() { state.withLock { $0.isDead = true } }

  /// Without a fault, this records the call.
  func refusal(_ kinds: Kind...) -> Int32? {
    state.withLock { state in
      if state.isDead { return EIO }
      guard let fault else {
        state.calls.append(Set(kinds))
        return nil
      }
      guard !fault.kinds.isDisjoint(with: kinds) else { return nil }
      state.count += 1
      guard state.count == fault.number || fault.lasts && state.count > fault.number else { return nil }
      state.hits += 1
      return fault.code
    }
  }

  // MARK: SQLite's calls

  /// SQLite's result codes, as in https://www.sqlite.org/rescode.html.
  private enum ResultCode {
    static let full: Int32 = 13
    static let cannotOpen: Int32 = 14
    static let read: Int32 = 266
    static let write: Int32 = 778
    static let synchronize: Int32 = 1_034
    static let synchronizeDirectory: Int32 = 1_290
    static let truncate: Int32 = 1_546
    static let unlink: Int32 = 2_570
  }

  private func handle(_ event: crash_vfs_event) -> Int32 {
    let path = event.path.map { relative(String(cString: $0)) } ?? ""
    let file = SystemChange.File.handle(event.handle)
    switch event.call {
    case crash_vfs_open:
      if event.value == 1, refusal(.read, .grow, .name) != nil { return ResultCode.cannotOpen }
      if event.value == 0, refusal(.read) != nil { return ResultCode.cannotOpen }
      record(.open(handle: event.handle, path: path, makes: event.value == 1))
    case crash_vfs_read:
      if refusal(.read) != nil { return ResultCode.read }
    case crash_vfs_write:
      if let code = refusal(.write, .grow) { return code == ENOSPC ? ResultCode.full : ResultCode.write }
      let bytes = event.bytes.map { UnsafeRawBufferPointer(start: $0, count: Int(event.count)) }
      record(.write(file, offset: Int(event.offset), bytes: bytes.map(Array.init) ?? []))
    case crash_vfs_truncate:
      if refusal(.write) != nil { return ResultCode.truncate }
      record(.truncate(file, size: Int(event.offset)))
    case crash_vfs_sync:
      if refusal(.synchronize) != nil { return ResultCode.synchronize }
      record(.synchronize(file))
    case crash_vfs_sync_folder:
      if refusal(.synchronize) != nil { return ResultCode.synchronizeDirectory }
      record(.synchronizeDirectory(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""))
    case crash_vfs_unlink:
      if refusal(.name) != nil { return ResultCode.unlink }
      record(.unlink(path))
    default: break
    }
    return 0
  }
}
