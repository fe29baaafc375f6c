import Foundation

/// Memory that is mapped before a run.
///
/// A virtual machine gets memory from its host when a page is first touched. Copying a file of 650
/// MB took 2.2 s into new memory and 0.4 s into used memory, which isn't part of a migration.
enum TouchedMemory {
  /// Touches at most half of the machine's memory.
  static func prepare(byteCount: Int64) {
    let size = Int(clamping: min(byteCount, Int64(clamping: ProcessInfo.processInfo.physicalMemory / 2)))
    guard size > 0 else { return }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
    defer { memory.deallocate() }
    for offset in stride(from: 0, to: size, by: 4096) {
      memory.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
    }
  }
}
