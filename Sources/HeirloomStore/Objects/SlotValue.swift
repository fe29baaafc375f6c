/// The value of an object's column after the next save.
///
/// It holds no references: the slots of streamed objects are written and cleared without reference counting.
enum SlotValue {
  case unchanged
  case null
  case integer(Int64)
  case real(Double)
  /// Text or bytes, by the column's type, in the context's arena.
  case bytes(offset: Int, count: Int)
  /// The position of a value in the object's `payloads`.
  case payload(Int)

  var isUnchanged: Bool {
    if case .unchanged = self { true } else { false }
  }
}

/// A value that is too large for a slot.
enum SlotPayload {
  case text(String)
  case blob([UInt8])
  /// The key of an object, which may not have one yet.
  case reference(ManagedObject)
}

/// Reusable memory for the bytes of new values between two writes of a context.
final class ByteArena {
  /// The capacity that `removeAll()` keeps, in bytes.
  private static let keptCapacity: Int = 1 << 18

  @exclusivity(unchecked) private var start: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var capacity: Int = 0
  /// The number of bytes in use.
  @exclusivity(unchecked) private(set) var count: Int = 0

  deinit { start?.deallocate() }

  /// Copies bytes, which must not be in this memory, and returns the offset of the copy.
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

  /// Returns bytes that were copied; none for a range that isn't in use.
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
