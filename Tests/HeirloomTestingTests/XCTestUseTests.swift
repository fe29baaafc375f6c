import Heirloom
import HeirloomModel
import HeirloomTesting
import TestSupport
import XCTest

/// The same assertions in the other framework.
final class XCTestUseTests: XCTestCase {
  func testAssertionsThrowInXCTestToo() throws {
    let directory = try TemporaryDirectory()
    let model = try Garden.model()
    let store = directory.file("Garden.sqlite")
    try SampleObjects(of: model, objectsPerEntity: 3).makeStore(at: store)
    let before = try StoreContents(of: store, model: model)
    XCTAssertNoThrow(try before.expectUnchanged(in: store, model: model))
    let other = directory.file("Other.sqlite")
    try SampleObjects(of: model, objectsPerEntity: 4).makeStore(at: other)
    XCTAssertThrowsError(try before.expectUnchanged(in: other, model: model)) { error in
      XCTAssertTrue("\(error)".contains("came from nowhere"), "\(error)")
    }
  }
}
