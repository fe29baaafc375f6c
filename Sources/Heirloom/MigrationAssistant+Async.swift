import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore

extension MigrationAssistant {
  /// Migrates a store to the current model on its own thread, without blocking an actor or the cooperative pool.
  ///
  /// ```swift
  /// let assistant = MigrationAssistant(storeURL: storeURL, modelController: controller, history: history)
  /// let progress = assistant.progress            // may be shown, and cancelled, from anywhere
  /// let outcome = try await MigrationAssistant.migrateStore(with: assistant)
  /// ```
  ///
  /// The call takes ownership of the assistant. An assistant isn't `Sendable`, so the compiler ensures that no other
  /// code uses it meanwhile. The delegate, policies, stages and observers are called on that thread, not on the
  /// caller's actor. Pass a delegate to ``migrateStore(with:delegate:)``, or, if it is isolated to the main actor, to
  /// ``migrateStore(with:mainActorDelegate:)``.
  ///
  /// Cancelling the task cancels the migration as ``progress`` does: the store is unchanged, and the error's code is
  /// `cancelled`. The thread has the quality of service for the task's priority, where the system has one.
  ///
  /// - Parameter assistant: The assistant, completely configured but for a delegate.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore()``, and ``MigrationAssistantError/unfitLocation(storePath:_:)`` for an
  ///   assistant whose delegate was set before: the compiler can't check that another thread may call that delegate.
  public static func migrateStore(with assistant: sending MigrationAssistant) async throws -> MigrationOutcome {
    try await migrateStore(with: assistant, sendable: nil)
  }

  /// Migrates a store to the current model on its own thread, and calls the delegate on that thread.
  ///
  /// The compiler rejects a delegate with an actor-isolated conformance, which it can't do for an `any`.
  ///
  /// - Parameters:
  ///   - assistant: The assistant, completely configured but for a delegate.
  ///   - delegate: The delegate, which is retained until the migration ends.
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
          // On Linux a new thread has its creator's name until it sets its own.
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

  /// Migrates a store to the current model on its own thread, and calls the delegate on the main actor.
  ///
  /// The migration waits for each answer, while the main actor stays free, so a delegate may update the screen. It must
  /// not wait for the user: call ``plan()`` first, ask, then migrate with the answer. The main thread must not be
  /// blocked until the migration ends: the two would wait for each other.
  ///
  /// - Parameters:
  ///   - assistant: The assistant, completely configured but for a delegate.
  ///   - delegate: The delegate, whose conformance may be isolated to the main actor.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore(with:)``.
  @MainActor
  public static func migrateStore(
    with assistant: sending MigrationAssistant, mainActorDelegate delegate: any MigrationAssistantDelegate
  ) async throws -> MigrationOutcome {
    try await migrateStore(with: assistant, delegate: MainActorDelegate(delegate))
  }
}

/// A delegate that was set before the call isn't checked to be callable on another thread.
private struct UncheckedDelegate: ExplainedError {
  let cause = "The assistant's delegate was set before the migration moved to its own thread."
  let help = ErrorHelp(
    .described("Nothing was started."),
    "Give the delegate to migrateStore(with:delegate:), or to migrateStore(with:mainActorDelegate:).")
  let coreDataCode: Int? = ErrorWords.generalCode
}

private struct NoThread: ExplainedError {
  let cause = "The system can't create a thread for the migration."
  let help = ErrorHelp(
    .described("Nothing was started."), "End other work, or raise the limit on threads, then try again.")
  let coreDataCode: Int? = ErrorWords.generalCode
}

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
  fileprivate init(_ priority: TaskPriority) {
    switch priority {
    case TaskPriority.high...: self = .userInitiated
    case TaskPriority.medium...: self = .default
    case TaskPriority.low...: self = .utility
    default: self = .background
    }
  }

  /// That of the same `qos_class_t`.
  fileprivate var systemClass: UInt32 { self == .default ? 0x15 : UInt32(rawValue) }
}
