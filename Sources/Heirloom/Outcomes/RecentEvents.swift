package import Foundation
import HeirloomMigration
import HeirloomModel

/// The events and errors of an assistant's run, kept in memory for a diagnostics archive; no log is written.
package struct RecentEvents {
  static let limit = 200

  package struct Entry {
    package let date: Date
    /// Without row values.
    package let text: String
  }

  package private(set) var entries: [Entry] = []
  package private(set) var droppedCount = 0

  mutating func note(_ event: MigrationEvent) {
    // The reason of a failure may quote a row value; the error itself is noted without values.
    guard case .failed = event else { return append("\(event)") }
  }

  mutating func note(_ error: MigrationAssistantError) {
    let text = "error \(error.code)\(error.coreDataCode.map { " (\($0))" } ?? ""): \(error.textWithoutValues)"
    // The same failure may be wrapped in several places.
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
  /// Without texts of the app's code: they may quote a value.
  package var textWithoutValues: String {
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
