/// The value that a column of an object is to hold after the next save.
///
/// It has no references, so that the slots of streamed objects are written and emptied without counting any.
enum SlotValue {
  /// The column was not changed.
  case unchanged
  /// No value.
  case null
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Text or bytes, by the column's type, in the memory of the context.
  case bytes(offset: Int, count: Int)
  /// A value that the object keeps beside its slots, by position.
  case payload(Int)

  /// True if the column was not changed.
  var isUnchanged: Bool {
    if case .unchanged = self { true } else { false }
  }
}

/// A value that is too large for a slot.
enum SlotPayload {
  /// Text.
  case text(String)
  /// Bytes.
  case blob([UInt8])
  /// The key of an object, which may still have to be given one.
  case reference(ManagedObject)
}

/// Memory for the bytes of new values between two writes of a context, used again and again.
final class ByteArena {
  /// The memory that is kept when all bytes are let go of, in bytes.
  private static let keptCapacity: Int = 1 << 18

  @exclusivity(unchecked) private var start: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var capacity: Int = 0
  /// The bytes in use.
  @exclusivity(unchecked) private(set) var count: Int = 0

  deinit { start?.deallocate() }

  /// Copies bytes.
  ///
  /// - Parameter bytes: The bytes; they may not be in this memory.
  /// - Returns: The offset where the copy begins.
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

  /// Lets go of all bytes.
  func removeAll() {
    count = 0
    guard capacity > Self.keptCapacity else { return }
    start?.deallocate()
    start = nil
    capacity = 0
  }
}
