package import Foundation
import Heirloom

/// A story that runs with a real store and reports each step.
package protocol DemoRun {
  /// The story's name, which is also the name of its folder.
  static var name: String { get }
  /// The number of versions in the story.
  static var versionCount: Int { get }

  /// The folder that contains the store.
  var directory: URL { get }
  /// The store's file.
  var storePath: String { get }
  /// The report so far.
  var tale: DemoTale { get }

  /// Creates a run.
  init(story: DemoStory, directory: URL, tale: DemoTale)

  /// Runs the story, and throws a failure if anything goes wrong.
  mutating func tell() throws
}

extension DemoRun {
  /// Throws a failure with a message unless a condition is true.
  func check(_ isTrue: @autoclosure () throws -> Bool, _ complaint: String) throws {
    guard try isTrue() else { throw failure(complaint) }
  }

  func failure(_ complaint: String) -> DemoFailure {
    .wentWrong(complaint, storePath: storePath)
  }
}
