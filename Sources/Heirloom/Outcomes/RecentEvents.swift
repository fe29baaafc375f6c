import Foundation
import HeirloomMigration
import HeirloomModel

/// The events and errors of an assistant's run, kept in memory for a diagnostics archive; no log is written.
struct RecentEvents {
  /// The most entries that are kept.
  static let limit = 200

  /// Something that happened.
  struct Entry {
    /// The time.
    let date: Date
    /// The event or error, without a value of a row.
    let text: String
  }

  /// The newest entries, in their order.
  private(set) var entries: [Entry] = []
  /// The number of older entries that were dropped.
  private(set) var droppedCount = 0

  /// Notes an event.
  mutating func note(_ event: MigrationEvent) {
    // The reason of a failure may be in the app's words; the error itself is noted in ours.
    guard case .failed = event else { return append("\(event)") }
  }

  /// Notes an error.
  mutating func note(_ error: MigrationAssistantError) {
    let text = "error \(error.code)\(error.coreDataCode.map { " (\($0))" } ?? ""): \(error.textWithoutValues)"
    // One failure passes several places that wrap it.
    if entries.last?.text != text { append(text) }
  }

  private mutating func append(_ text: String) {
    if entries.count == Self.limit {
      entries.removeFirst()
      droppedCount += 1
    }
    entries.append(Entry(date: Date(), text: PlainText.line(text)))
  }
}

extension MigrationAssistantError {
  /// The description, without the words of the app's code: they may quote a value.
  var textWithoutValues: String {
    switch self {
    case .decisionNeeded(_, let plan):
      return "Rows don't fit the new model: "
        + plan.blockers.map { "\($0.rows) × \($0.kind) \($0.entity)\($0.property.map { ".\($0)" } ?? "")" }
        .joined(separator: "; ")
    case .failed(_, let error):
      switch error {
      case .mappingFailed(let failure):
        return "The entity mapping \"\(failure.mapping)\" failed in \(failure.hook.rawValue) of \"\(failure.entity)\":"
          + " \(type(of: failure.underlying))"
      case .stageFailed(let failure):
        return "The handler \(failure.handler.rawValue) of \(failure.stage) failed: \(type(of: failure.underlying))"
      case .appFailed(let error): return "The app stopped the migration: \(type(of: error))"
      case .unfitDecision(let decision, _):
        return "A decision on \(decision.entity) (\(decision.properties.joined(separator: ", "))) does not fit."
      case .notUnique(let duplicates):
        return "\(CountText.counted(duplicates.rows, "object")) of \"\(duplicates.entity)\""
          + " \(CountText.verb("are", duplicates.rows)) equal to another in \(duplicates.properties)."
      default: return description
      }
    default: return description
    }
  }
}
