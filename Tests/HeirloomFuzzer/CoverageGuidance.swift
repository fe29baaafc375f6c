#if LIBFUZZER
  import Foundation
  import HeirloomFuzzing

  /// The same readers under libFuzzer, which searches for inputs that reach new code.
  enum CoverageGuidance {
    private nonisolated(unsafe) static var reader: FuzzReader?
    private nonisolated(unsafe) static var inputs: FuzzInputs?
    private nonisolated(unsafe) static var folder: FuzzFolder?

    /// Runs libFuzzer with this process's arguments, in one thread.
    static func run() {
      let environment = ProcessInfo.processInfo.environment
      guard let target = FuzzTarget(rawValue: environment["HEIRLOOM_FUZZ_TARGET"] ?? "") else {
        print("HEIRLOOM_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
        exit(2)
      }
      do {
        try prepare(target, samples: environment["HEIRLOOM_FUZZ_SAMPLES"])
      } catch {
        print("\(error)")
        exit(2)
      }
      // These are allocated: with local variables Swift 6.3.1 crashes while it compiles this.
      let count = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
      count.initialize(to: CommandLine.argc)
      let arguments = UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>.allocate(capacity: 1)
      arguments.initialize(to: CommandLine.unsafeArgv)
      exit(runDriver(count, arguments, testOneInput))
    }

    private static func prepare(_ target: FuzzTarget, samples: String?) throws {
      folder = try FuzzFolder()
      guard let url = folder?.url else { return }
      reader = try FuzzReader(target, folder: url)
      inputs = try FuzzInputs(for: target, seed: 0, folder: url)
      guard let samples else { return }
      for (index, input) in try FuzzSeeds.inputs(for: target, folder: url).enumerated() {
        try Data(input).write(to: URL(fileURLWithPath: samples).appendingPathComponent("sample-\(index)"))
      }
    }

    static func readInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
      do {
        _ = try reader?.read(Array(UnsafeBufferPointer(start: start, count: count)))
      } catch {
        print("FINDING \(error)")
        abort()
      }
      return 0
    }

    static func mutate(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
      var random = FuzzRandom(seed: UInt64(seed))
      // Half of the mutations know the format, half are libFuzzer's own.
      guard random.once(in: 2), let inputs,
        let bytes = try? inputs.mutated(Array(UnsafeBufferPointer(start: start, count: count)), using: &random),
        !bytes.isEmpty, bytes.count <= limit
      else { return mutateBytes(start, count, limit) }
      for (index, byte) in bytes.enumerated() { start[index] = byte }
      return bytes.count
    }
  }

  // This is the driver of libFuzzer's own library, whose `main` is replaced by this program's.
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
