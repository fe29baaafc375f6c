import Foundation
import Heirloom
import HeirloomStories
import TestSupport
import Testing

/// The sample histories as an app's repository would hold them: checked, and with a lock that hides no loss.
struct SampleHistoryTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: ["Aircraft", "Diary", "Done"])
  func `check finds no error in a sample`(_ name: String) {
    let outcome = tool("check", Tool.snapshots.appendingPathComponent(name).path)
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.error)")
  }

  /// The steps of the samples whose content the stories' code keeps.
  @Test(arguments: [
    ("Aircraft", ["Aircraft 2 → Aircraft 2 additions", "Aircraft 2 additions → Aircraft 3"]),
    ("Diary", ["Diary → Diary 2"]), ("Done", []),
  ])
  func `a sample's lock leaves to code what code migrates, and acknowledges no loss`(
    _ name: String, _ steps: [String]
  ) throws {
    let history = try ModelHistory(contentsOf: Tool.snapshots.appendingPathComponent(name))
    let lock = try #require(history.lock)
    #expect(lock.stepsByCode.map { "\($0.source) → \($0.destination)" } == steps)
    #expect(lock.acknowledgements.isEmpty)
  }

  @Test(arguments: [1, 2])
  func `the tool by itself drops no flight data unasked`(_ version: Int) throws {
    let hangar = try Hangar()
    let flown = Fleet.sample(count: 60).paintedAndFlown()
    try flown.makeStore(at: url, model: hangar.models[1])
    try flown.addColorsAndFlightData(to: url, model: hangar.models[1])
    if version == 2 { try hangar.migrate(url, toVersion: 2) }
    let bytes = StoreBytes(of: url)
    let samples = Tool.snapshots.appendingPathComponent("Aircraft").path
    let refused = tool("migrate", url.path, "--to", samples)
    #expect(refused.code == 3, "\(refused.output)\(refused.error)")
    #expect(refused.error.contains("flightData"), "\(refused.error)")
    #expect(StoreBytes(of: url) == bytes)
    let accepted = tool("migrate", url.path, "--to", samples, "--accept-losses", "--json")
    #expect(accepted.code == 0, "\(accepted.output)\(accepted.error)")
    let losses = try #require(try accepted.json()["losses"] as? [[String: Any]])
    #expect(losses.map { $0["property"] as? String } == ["flightData"], "\(accepted.output)")
    #expect(losses.map { $0["rows"] as? Int } == [flown.recordedCount], "\(accepted.output)")
  }
}
