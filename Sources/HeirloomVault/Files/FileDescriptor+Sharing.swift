#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension FileDescriptor {
  /// Linux reports the offset of each block; Apple's systems don't: there all but a sample counts
  /// as shared, since only writes after the cloning can have changed the clone.
  func sharedRanges(withClone clone: FileDescriptor) -> [Range<Int64>] {
    #if canImport(Darwin)
      guard let size = try? clone.status(for: .status).size else { return [] }
      return CloneSample.left(ofByteCount: size)
    #else
      guard let own = extents(), let others = clone.extents() else { return [] }
      var shared: [Range<Int64>] = []
      var index = 0
      for other in others {
        while index < own.count, own[index].range.upperBound <= other.range.lowerBound { index += 1 }
        var next = index
        while next < own.count, own[next].range.lowerBound < other.range.upperBound {
          if own[next].shift == other.shift {
            shared.append(own[next].range.clamped(to: other.range))
          }
          next += 1
        }
      }
      return shared
    #endif
  }

  #if !canImport(Darwin)
    private struct Extent {
      let range: Range<Int64>
      /// The distance from the range to its offset on the volume, in bytes.
      let shift: Int64
    }

    /// Flushes the file's writes first: until then, the old offsets would be reported.
    private func extents() -> [Extent]? {
      // struct fiemap and struct fiemap_extent of <linux/fiemap.h>: the same on every architecture.
      let (headSize, extentSize, most) = (32, 56, 512)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: headSize + extentSize * most, alignment: 8)
      defer { buffer.deallocate() }
      var extents: [Extent] = []
      var start: UInt64 = 0
      while true {
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.storeBytes(of: start, toByteOffset: 0, as: UInt64.self)
        buffer.storeBytes(of: .max - start, toByteOffset: 8, as: UInt64.self)
        buffer.storeBytes(of: 1, toByteOffset: 16, as: UInt32.self)  // FIEMAP_FLAG_SYNC
        buffer.storeBytes(of: UInt32(most), toByteOffset: 24, as: UInt32.self)
        // FS_IOC_FIEMAP, _IOWR('f', 11, struct fiemap).
        guard let address = buffer.baseAddress, ioctl(number, 0xC020_660B as UInt, address) == 0 else { return nil }
        let count = Int(buffer.load(fromByteOffset: 20, as: UInt32.self))
        for index in 0..<min(count, most) {
          let place = headSize + extentSize * index
          let logical = buffer.load(fromByteOffset: place, as: UInt64.self)
          let physical = buffer.load(fromByteOffset: place + 8, as: UInt64.self)
          let length = buffer.load(fromByteOffset: place + 16, as: UInt64.self)
          let flags = buffer.load(fromByteOffset: place + 40, as: UInt32.self)
          guard let first = Int64(exactly: logical), let size = Int64(exactly: length), size > 0,
            let there = Int64(exactly: physical), !first.addingReportingOverflow(size).overflow
          else { return nil }
          start = logical + length
          // Shared (0x2000), last and merged runs have an offset; others are compressed, inline, delayed or unwritten.
          if flags & ~0x3001 == 0 {
            extents.append(Extent(range: first..<first + size, shift: there - first))
          }
          if flags & 1 != 0 { return extents }
        }
        guard count > 0 else { return extents }
      }
    }
  #endif
}
