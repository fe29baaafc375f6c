package struct SetAsideFiles: Equatable, Sendable {
  /// The readable UTC time, then eight hexadecimal digits.
  package let name: String
  /// In seconds since 1970-01-01 UTC.
  package let time: Int64
  package let path: String
  package let notice: [UInt8]?
  package let isAcknowledged: Bool
  package let adoption: ReturnRecord?

  package func storePath(named name: String) -> String { PathText.join(path, name) }

  static let noticeName = "notice.json"
  static let acknowledgedName = "notice-acknowledged.json"
  static let adoptionName = "adopted.json"
  static let byteLimit = 65_536
}

/// The record of a set-aside store's return to its place.
package struct ReturnRecord: Equatable, Sendable, Codable {
  /// In seconds since 1970-01-01 UTC; `nil` if a crash left the record empty.
  package var time: Int64?
  /// The previous version that holds the replaced store.
  package var replaced: String?

  package init(time: Int64? = nil, replaced: String? = nil) {
    self.time = time
    self.replaced = replaced
  }
}
