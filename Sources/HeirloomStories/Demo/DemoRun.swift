package import Foundation
import Heirloom

/// A run of a story, which is told while it happens.
package protocol DemoRun {
  /// The story's name, which is also its folder's name.
  static var name: String { get }
  /// The number of versions that the story goes through.
  static var versionCount: Int { get }

  /// The folder where everything happens.
  var directory: URL { get }
  /// The store's file.
  var storePath: String { get }
  /// The tale so far.
  var tale: DemoTale { get }

  /// Creates a run.
  init(story: DemoStory, directory: URL, tale: DemoTale)

  /// Tells the story.
  ///
  /// - Throws: A failure if anything goes wrong.
  mutating func tell() throws
}

extension DemoRun {
  /// Throws a failure with a complaint unless a condition is true.
  func check(_ isTrue: @autoclosure () throws -> Bool, _ complaint: String) throws {
    guard try isTrue() else { throw failure(complaint) }
  }

  /// Returns the failure of a story that went wrong.
  func failure(_ complaint: String) -> DemoFailure {
    .wentWrong(complaint, storePath: storePath)
  }
}
