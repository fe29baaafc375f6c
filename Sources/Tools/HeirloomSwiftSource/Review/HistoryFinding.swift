/// A fault of a history of models, or a problem that its stores may have.
package struct HistoryFinding: Hashable, Sendable {
  package enum Severity: String, CaseIterable, Comparable, Sendable {
    /// Crashes the app or loses data.
    case error
    /// Crashes the app or loses data under some conditions.
    case warning
    case note

    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .error: 0
      case .warning: 1
      case .note: 2
      }
    }
  }

  package let rule: HistoryRule
  package let severity: Severity
  /// In Swift source; `nil` if there is none.
  package let place: SwiftPlace?
  /// Of ``SwiftDataReview``, which knows the source and not only the model that it describes.
  package let isOfSource: Bool
  /// Of two versions, the later one, unless it is about rows of the earlier one.
  package let version: String?
  package let entity: String?
  package let property: String?
  /// The file to change, or the file that shows the problem.
  package var file: String?
  /// From 1; `nil` if unknown.
  package var line: Int?
  /// Such as `Models/Chat.swift:41`.
  package var placeText: String?
  /// The fact and its cause, in one or two sentences.
  package let problem: String
  /// `nil` where there is nothing to do, or nothing that is known.
  package let remedy: String?

  package init(
    _ rule: HistoryRule, _ severity: Severity, version: String? = nil, entity: String? = nil, property: String? = nil,
    file: String? = nil, line: Int? = nil, _ problem: String, remedy: String? = nil
  ) {
    (self.rule, self.severity, self.problem, self.remedy) = (rule, severity, problem, remedy)
    (self.version, self.entity, self.property) = (version, entity, property)
    (self.file, self.line, place, isOfSource) = (file, line, nil, false)
  }

  init(
    _ rule: HistoryRule, _ severity: Severity, at place: SwiftPlace?, version: String? = nil, entity: String? = nil,
    property: String? = nil, _ problem: String, remedy: String? = nil
  ) {
    (self.rule, self.severity, self.problem, self.remedy) = (rule, severity, problem, remedy)
    (self.version, self.entity, self.property) = (version, entity, property)
    (self.place, isOfSource) = (place, true)
  }

  package var message: String { remedy.map { "\(problem) \($0)" } ?? problem }

  /// True if `other` is about the same subject and says less.
  package func supersedes(_ other: HistoryFinding) -> Bool {
    guard rule.supersedes.contains(other.rule), isOfSource != other.isOfSource,
      isOfSource || rule != other.rule
    else { return false }
    // A hazard's version is the one whose rows were tried.
    guard version == other.version || other.rule == .dataHazard else { return false }
    return Self.agree(entity, other.entity) && Self.agree(property, other.property)
  }

  private static func agree(_ name: String?, _ other: String?) -> Bool {
    name == nil || other == nil || name == other
  }
}

extension [HistoryFinding] {
  package var unsuperseded: [HistoryFinding] {
    filter { finding in !contains { $0.supersedes(finding) } }
  }
}
