/// A set-aside store and its files, in a folder of their own.
package struct SetAsideFiles: Equatable, Sendable {
  /// The folder's name: the readable UTC time, then eight hexadecimal digits.
  package let name: String
  /// The time when it was set aside, in seconds since 1970-01-01 UTC.
  package let time: Int64
  /// The path of the folder.
  package let path: String
  /// The notice about the store, for the app to show; `nil` if there is none.
  package let notice: [UInt8]?
  /// True when the user has acknowledged the notice.
  package let isAcknowledged: Bool
  /// The record of the store's return to its place; `nil` if it has not returned.
  package let adoption: ReturnRecord?

  /// Returns the path of the store's main file; the file may be gone.
  package func storePath(named name: String) -> String { PathText.join(path, name) }

  static let noticeName = "notice.json"
  /// The name of the notice's file once it is acknowledged.
  static let acknowledgedName = "notice-acknowledged.json"
  /// The name of the file that records the store's return to its place.
  static let adoptionName = "adopted.json"
  /// The size limit for reading one of these files, in bytes.
  static let byteLimit = 65_536
}

/// The record of a set-aside store's return to its place.
package struct ReturnRecord: Equatable, Sendable, Codable {
  /// The time of the return, in seconds since 1970-01-01 UTC; `nil` if it was not recorded.
  package var time: Int64?
  /// The name of the previous version that holds the replaced store; `nil` if there was none.
  package var replaced: String?

  /// Creates a record.
  package init(time: Int64? = nil, replaced: String? = nil) {
    self.time = time
    self.replaced = replaced
  }
}
