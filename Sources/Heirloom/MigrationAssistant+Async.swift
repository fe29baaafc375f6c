import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore

extension MigrationAssistant {
  /// Brings a store to the current model on its own thread, and blocks neither an actor nor the tasks' shared threads.
  ///
  /// ```swift
  /// let assistant = MigrationAssistant(storeURL: storeURL, modelController: controller, history: history)
  /// let progress = assistant.progress            // may be shown, and cancelled, from anywhere
  /// let outcome = try await MigrationAssistant.migrateStore(with: assistant)
  /// ```
  ///
  /// The call takes the assistant over. An assistant isn't `Sendable`, so the compiler makes sure that nothing else
  /// uses it meanwhile. The delegate, policies, stages and observers are called on that thread, not on the caller's
  /// actor. A delegate is given to ``migrateStore(with:delegate:)``, or, where it is the main actor's, to
  /// ``migrateStore(with:mainActorDelegate:)``.
  ///
  /// Cancelling the task cancels the migration as ``progress`` does: the store is as it was, and the error's code is
  /// `cancelled`. The thread has the quality of service that goes with the task's priority, where the system has one.
  ///
  /// - Parameter assistant: The assistant, with everything that it needs but a delegate.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore()``, and ``MigrationAssistantError/unfitLocation(storePath:_:)`` for an
  ///   assistant that was given a delegate elsewhere: nobody has checked that another thread may call it.
  public static func migrateStore(with assistant: sending MigrationAssistant) async throws -> MigrationOutcome {
    try await migrateStore(with: assistant, sendable: nil)
  }

  /// Brings a store to the current model on its own thread, and calls the delegate on that thread.
  ///
  /// A delegate whose conformance is an actor's own is refused by the compiler, which an `any` would not do.
  ///
  /// - Parameters:
  ///   - assistant: The assistant, with everything that it needs but a delegate.
  ///   - delegate: The delegate, which is kept until the migration ends.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore(with:)``.
  public static func migrateStore(
    with assistant: sending MigrationAssistant, delegate: some MigrationAssistantDelegate & Sendable
  ) async throws -> MigrationOutcome {
    try await migrateStore(with: assistant, sendable: delegate)
  }

  private static func migrateStore(
    with assistant: sending MigrationAssistant, sendable delegate: (any MigrationAssistantDelegate & Sendable)?
  ) async throws -> MigrationOutcome {
    if let other = assistant.delegate, other !== delegate {
      throw MigrationAssistantError.unfitLocation(storePath: assistant.storeURL.path, UncheckedDelegate())
    }
    assistant.delegate = delegate
    let progress = assistant.progress
    let run = DetachedRun(assistant)
    let quality = QualityOfService(Task.currentPriority)
    let noThread = MigrationAssistantError.unfitLocation(storePath: assistant.storeURL.path, NoThread())
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isStarted = WorkerThread.start(quality: quality.systemClass) {
          // On Linux a thread has the name of its maker until it names itself.
          Thread.current.name = "heirloom"
          Thread.current.qualityOfService = quality
          continuation.resume(with: withAutoreleasePool(run.outcome))
        }
        if !isStarted { continuation.resume(throwing: noThread) }
      }
    } onCancel: {
      progress.cancel()
    }
  }

  /// Brings a store to the current model on its own thread, and calls the delegate on the main actor.
  ///
  /// The migration waits for each answer, and the main actor for nothing. So a delegate may show what it hears. It must
  /// not wait for a person: ask first, with ``plan()``, then migrate with the answer. Nor may anybody block the main
  /// thread until the migration ends: the two would wait for each other.
  ///
  /// - Parameters:
  ///   - assistant: The assistant, with everything that it needs but a delegate.
  ///   - delegate: The delegate, whose conformance may be the main actor's own.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore(with:)``.
  @MainActor
  public static func migrateStore(
    with assistant: sending MigrationAssistant, mainActorDelegate delegate: any MigrationAssistantDelegate
  ) async throws -> MigrationOutcome {
    try await migrateStore(with: assistant, delegate: MainActorDelegate(delegate))
  }
}

/// A delegate that was set where nobody has checked that another thread may call it.
private struct UncheckedDelegate: ExplainedError {
  let cause = "The assistant was given a delegate before the migration was put on a thread of its own."
  let help = ErrorHelp(
    .described("Nothing was begun."),
    "Give the delegate to migrateStore(with:delegate:), or to migrateStore(with:mainActorDelegate:).")
  let coreDataCode: Int? = ErrorWords.generalCode
}

/// A limit on threads that leaves none for a migration.
private struct NoThread: ExplainedError {
  let cause = "The system has no thread left to migrate the store on."
  let help = ErrorHelp(
    .described("Nothing was begun."), "End other work, or raise the limit on threads, then try again.")
  let coreDataCode: Int? = ErrorWords.generalCode
}

/// An assistant on its way to the thread that it works on.
private final class DetachedRun: Sendable {
  private let assistant: Locked<MigrationAssistant>

  init(_ assistant: sending MigrationAssistant) {
    self.assistant = Locked(assistant)
  }

  func outcome() -> Result<MigrationOutcome, any Error> {
    assistant.withLock { assistant in Result { try assistant.migrateStore() } }
  }
}

extension QualityOfService {
  /// Creates the quality that goes with a task's priority.
  fileprivate init(_ priority: TaskPriority) {
    switch priority {
    case TaskPriority.high...: self = .userInitiated
    case TaskPriority.medium...: self = .default
    case TaskPriority.low...: self = .utility
    default: self = .background
    }
  }

  /// The raw value of the same `qos_class_t`.
  fileprivate var systemClass: UInt32 { self == .default ? 0x15 : UInt32(rawValue) }
}
