#if LIBFUZZER
  import Foundation
  import HeirloomFuzzing

  /// The same readers under libFuzzer, which looks for inputs that reach new code.
  enum CoverageGuidance {
    private static let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["HEIRLOOM_FUZZ_TARGET"] ?? "")
    private nonisolated(unsafe) static var state: (reader: FuzzReader, inputs: FuzzInputs)?
    private nonisolated(unsafe) static var folder: FuzzFolder?

    /// Runs libFuzzer with this process's arguments.
    static func run() {
      guard let target, let folder = try? FuzzFolder(), let reader = try? FuzzReader(target, folder: folder.url),
        let inputs = try? FuzzInputs(for: target, seed: 0, folder: folder.url)
      else {
        print("HEIRLOOM_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
        exit(2)
      }
      // libFuzzer runs in one thread.
      self.folder = folder
      state = (reader, inputs)
      var count = CommandLine.argc
      var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
      exit(runDriver(&count, &arguments) { readInput($0, $1) })
    }

    static func readInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
      do {
        _ = try state?.reader.read(Array(UnsafeBufferPointer(start: start, count: count)))
      } catch {
        print("FINDING \(error)")
        abort()
      }
      return 0
    }

    static func mutate(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
      var random = FuzzRandom(seed: UInt64(seed))
      // Half of the mutations know the format, half are libFuzzer's own.
      guard random.once(in: 2), let inputs = state?.inputs,
        let bytes = try? inputs.mutated(Array(UnsafeBufferPointer(start: start, count: count)), using: &random),
        !bytes.isEmpty, bytes.count <= limit
      else { return mutateBytes(start, count, limit) }
      for (index, byte) in bytes.enumerated() { start[index] = byte }
      return bytes.count
    }
  }

  // The driver of libFuzzer's own library, whose `main` this program's takes the place of.
  @_silgen_name("LLVMFuzzerRunDriver")
  private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) -> Int32

  @_silgen_name("LLVMFuzzerMutate")
  private func mutateBytes(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

  @_cdecl("LLVMFuzzerCustomMutator")
  func mutateInput(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
    CoverageGuidance.mutate(start, count, limit, seed)
  }

  @_cdecl("LLVMFuzzerTestOneInput")
  func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    CoverageGuidance.readInput(start, count)
  }
#endif
