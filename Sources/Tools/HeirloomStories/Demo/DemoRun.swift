package import Foundation
import Heirloom

/// A story that runs with a real store and reports each step.
package protocol DemoRun {
  /// Also the name of the story's folder.
  static var name: String { get }
  static var versionCount: Int { get }

  var directory: URL { get }
  var storePath: String { get }
  var tale: DemoTale { get }

  init(story: DemoStory, directory: URL, tale: DemoTale)

  /// Throws a failure if anything goes wrong.
  mutating func tell() throws
}

extension DemoRun {
  func check(_ isTrue: @autoclosure () throws -> Bool, _ complaint: String) throws {
    guard try isTrue() else { throw failure(complaint) }
  }

  func failure(_ complaint: String) -> DemoFailure {
    .wentWrong(complaint, storePath: storePath)
  }
}
