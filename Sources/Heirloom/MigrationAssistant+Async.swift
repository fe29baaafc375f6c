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
  /// uses it, its delegate or its stages meanwhile. The delegate, policies, stages and observers are called on that
  /// thread, not on the caller's actor. A delegate that is used afterwards must be `Sendable`. The delegate is kept
  /// until the migration ends.
  ///
  /// Cancelling the task cancels the migration as ``progress`` does: the store is as it was, and the error's code is
  /// `cancelled`. The thread has the quality of service that goes with the task's priority, where the system has one.
  ///
  /// - Parameter assistant: The assistant, with everything that it needs.
  /// - Returns: The outcome.
  /// - Throws: The errors of ``migrateStore()``.
  public static func migrateStore(with assistant: sending MigrationAssistant) async throws -> MigrationOutcome {
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
          continuation.resume(with: run.outcome())
        }
        if !isStarted { continuation.resume(throwing: noThread) }
      }
    } onCancel: {
      progress.cancel()
    }
  }
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
    assistant.withLock { assistant in
      // The assistant itself doesn't keep its delegate.
      withExtendedLifetime(assistant.delegate) { Result { try assistant.migrateStore() } }
    }
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
