#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Starting it reports an error when the system has no thread left.
///
/// Foundation's `Thread` and Dispatch report none, and code that waits for them waits forever.
package enum WorkerThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Returns false if the system has no thread or memory for it.
  ///
  /// `stackSize` is in bytes: by default a main thread's, because predicates and archives are read
  /// by recursion. `quality` is a raw value of `qos_class_t`, on systems that have it.
  package static func start(
    stackSize: Int = 8 << 20, quality: UInt32? = nil, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    let isStarted = create(work, stackSize: stackSize, quality: quality)
    if !isStarted { Unmanaged<Work>.fromOpaque(work).release() }
    return isStarted
  }

  private static func create(_ work: UnsafeMutableRawPointer, stackSize: Int, quality: UInt32?) -> Bool {
    // The attributes need an address of their own, since the C library fills them in.
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    guard pthread_attr_init(attributes) == 0 else { return false }
    defer { pthread_attr_destroy(attributes) }
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(attributes, stackSize)
    #if canImport(Darwin)
      if let quality { pthread_attr_set_qos_class_np(attributes, qos_class_t(quality), 0) }
      var thread: pthread_t?
      return pthread_create(&thread, attributes, run, work) == 0
    #else
      var thread = pthread_t()
      return pthread_create(&thread, attributes, run, work) == 0
    #endif
  }

  // The C libraries' headers differ in whether a thread's argument may be null.
  #if canImport(Darwin)
    private typealias Routine = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
  #else
    private typealias Routine = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  #endif

  // (With a function, or a closure where it is passed, Swift 6.3's check of sending crashes.)
  private static let run: Routine = { argument in
    let pointer: UnsafeMutableRawPointer? = argument
    if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
    return nil
  }
}
