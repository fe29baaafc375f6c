import Foundation
import Heirloom

extension MigrationBlocker {
  /// The option that decides about the blocker, with the possible choices.
  package var optionText: String {
    let place = entity + (property.map { ".\($0.replacingOccurrences(of: ", ", with: ","))" } ?? "")
    let words = choices.map { choice in
      switch choice {
      case .fill: "fill:VALUE"
      case .new: "new:ENTITY"
      case .newest, .merge, .quarantine: choice.rawValue
      }
    }
    return "--decide \(place)=\(words.joined(separator: "|"))"
  }
}

extension DecisionOutcome {
  /// The outcome of the decision for a person.
  package var words: String {
    let counts = [
      (filled, "filled"), (dropped, "dropped"), (merged, "merged"), (quarantined, "put into quarantine"),
    ].filter { $0.0 > 0 }.map { "\(counted($0.0, "row")) \($0.1)" }
    return "\(decision): \(counts.isEmpty ? "nothing to do" : counts.joined(separator: ", "))"
  }

  /// The outcome of the decision for a program.
  package var output: OutputValue {
    .object([
      ("decision", .text("\(decision)")), ("entity", .text(decision.entity)),
      ("properties", .texts(decision.properties)), ("choice", .text(decision.choice.option.rawValue)),
      ("filled", .integer(filled)), ("dropped", .integer(dropped)), ("merged", .integer(merged)),
      ("quarantined", .integer(quarantined)),
    ])
  }
}
