import HeirloomMigration
import HeirloomModel

extension MigrationLogLine: CustomStringConvertible {
  /// The message, and the details in parentheses.
  public var description: String {
    let details = metadata.ordered { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return details.isEmpty ? message : "\(message) (\(details.joined(separator: ", ")))"
  }
}

extension MigrationEvent: CustomStringConvertible {
  /// One line: the message and its details.
  public var description: String { line.description }
}

extension MigrationOutcome: CustomStringConvertible {
  /// One line, and one for each loss of a migration.
  public var description: String {
    guard case .migrated(let report) = self else { return line.description }
    return report.description
  }
}

extension MigrationReport: CustomStringConvertible {
  /// One line with the time and the previous version, and one for each loss.
  public var description: String {
    let time = "\(Int64((seconds * 1000).rounded())) ms"
    let kept = "the previous version is kept as \(previousVersion.id)"
    return (["Migrated \(CountText.counted(rowCount, "object")) in \(time); \(kept)."] + plan.lossLines)
      .joined(separator: "\n")
  }
}
