/// It holds no references, so streamed objects' slots are cleared without reference counting.
enum SlotValue {
  case unchanged
  case null
  case integer(Int64)
  case real(Double)
  /// Text or bytes, by the column's type, in the context's arena.
  case bytes(offset: Int, count: Int)
  case payload(Int)

  var isUnchanged: Bool {
    if case .unchanged = self { true } else { false }
  }
}

enum SlotPayload {
  case text(String)
  case blob([UInt8])
  /// The object may not have a key yet.
  case reference(ManagedObject)
}

/// Memory for the bytes of new values, reused after each write of a context.
final class ByteArena {
  private static let keptCapacity: Int = 1 << 18

  @exclusivity(unchecked) private var start: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var capacity: Int = 0
  @exclusivity(unchecked) private(set) var count: Int = 0

  deinit { start?.deallocate() }

  /// The bytes must not be in this memory.
  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let offset = count
    if bytes.count > capacity - count { grow(by: bytes.count) }
    if let source = bytes.baseAddress, let start { (start + offset).copyMemory(from: source, byteCount: bytes.count) }
    count += bytes.count
    return offset
  }

  private func grow(by more: Int) {
    let larger = max(count + more, 2 * capacity, 4096)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    if let start {
      memory.copyMemory(from: start, byteCount: count)
      start.deallocate()
    }
    start = memory
    capacity = larger
  }

  /// Empty for a range that isn't in use.
  @inline(__always)
  func bytes(offset: Int, count: Int) -> UnsafeRawBufferPointer {
    guard let start, offset >= 0, count >= 0, offset <= self.count - count else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start + offset, count: count)
  }

  func removeAll() {
    count = 0
    guard capacity > Self.keptCapacity else { return }
    start?.deallocate()
    start = nil
    capacity = 0
  }
}
