public import Foundation
import HeirloomFormats
package import HeirloomVault
import HeirloomModel

/// The notice of a set-aside store for the user, until it is acknowledged.
public struct MigrationNotice: Hashable, Sendable {
  /// The name of the set-aside store: the readable UTC time, then eight hexadecimal digits.
  public let id: String
  /// A title to show to the user.
  public let title: String
  /// A message to show to the user: what happened, and that nothing was deleted.
  public let message: String
  /// The time when the store was set aside.
  public let date: Date
  /// The folder that holds the store now, with its files.
  public let folderURL: URL
  /// The stable name of the error that prevented the store from being opened: the `code` of `MigrationAssistantError`.
  public let code: String
  /// The reason why the store could not be opened, in one sentence.
  public let reason: String
}

extension MigrationNotice {
  static func bytes(of error: MigrationAssistantError, storeName: String) throws -> [UInt8] {
    let document = Document(
      format: 1, title: "Your earlier data were set aside",
      message:
        "The data in \"\(storeName)\" could not be opened by this version of the app. Nothing was deleted: everything"
        + " is kept in a separate folder, and the app starts with new data. A later version of the app may bring the"
        + " earlier data back.",
      code: error.code, reason: error.description)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(document))
  }

  private struct Document: Codable {
    var format: Int
    var title: String
    var message: String
    var code: String
    var reason: String
  }

  package init(_ set: SetAsideFiles) {
    let document = set.notice.flatMap { try? JSONDecoder().decode(Document.self, from: Data($0)) }
    id = set.name
    // The file's content is not trusted.
    title = PlainText.line(document?.title ?? "Your earlier data were set aside")
    message = PlainText.line(
      document?.message ?? "Nothing was deleted: everything is kept in a separate folder.")
    code = PlainText.line(document?.code ?? "unknown", limit: 100)
    reason = PlainText.line(document?.reason ?? "The reason was not kept.")
    date = Date(timeIntervalSince1970: Double(set.time))
    folderURL = URL(fileURLWithPath: set.path, isDirectory: true)
  }
}
