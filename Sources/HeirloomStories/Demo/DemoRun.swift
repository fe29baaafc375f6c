package import Foundation
import Heirloom

/// A story that is told while it happens.
package protocol DemoRun {
  /// The story's name, which is that of its folder.
  static var name: String { get }
  /// The number of versions that the story goes through.
  static var versionCount: Int { get }

  /// Where everything happens.
  var directory: URL { get }
  /// The store's file.
  var storePath: String { get }
  /// What was told so far.
  var tale: DemoTale { get }

  /// Creates a run.
  init(story: DemoStory, directory: URL, tale: DemoTale)

  /// Tells the story.
  ///
  /// - Throws: A failure if anything is not as it should be.
  mutating func tell() throws
}

extension DemoRun {
  /// Throws if something is not as it should be.
  func check(_ isTrue: @autoclosure () throws -> Bool, _ complaint: String) throws {
    guard try isTrue() else { throw failure(complaint) }
  }

  /// The failure of a story that did not go as it should.
  func failure(_ complaint: String) -> DemoFailure {
    .wentWrong(complaint, storePath: storePath)
  }
}
