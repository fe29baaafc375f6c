import Foundation
import HeirloomFuzzing
import Testing

struct FuzzingTests {
  @Test(arguments: FuzzTarget.allCases)
  func `mutated inputs are read or refused, and nothing else happens`(target: FuzzTarget) throws {
    let folder = try FuzzFolder()
    let count = target == .store || target == .surroundings ? 4 : 30
    // These come after the samples themselves.
    let tally = try FuzzBatch(target, seed: 7, folder: folder.url).run(40..<40 + count, ownsProcess: false)
    #expect(tally.findings.isEmpty, "\(tally.findings.joined(separator: "\n"))")
    #expect(2 * tally.pastContainer >= tally.total, "\(tally.counts)")
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: FuzzTarget.allCases)
  func `the samples that mutations start from are accepted`(target: FuzzTarget) throws {
    let folder = try FuzzFolder()
    let reader = try FuzzReader(target, folder: folder.url)
    // The surroundings of a store stop it as they should: all goes well only without any.
    let count = target == .surroundings ? 1 : 3
    for input in try FuzzSeeds.inputs(for: target, folder: folder.url).prefix(count) {
      #expect(try reader.read(input) == .accepted)
    }
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: FuzzTarget.allCases.filter { $0 != .store })
  func `equal seeds give equal inputs`(target: FuzzTarget) throws {
    let folder = try FuzzFolder()
    let first = try FuzzInputs(for: target, seed: 3, folder: folder.url)
    let second = try FuzzInputs(for: target, seed: 3, folder: folder.url)
    let other = try FuzzInputs(for: target, seed: 4, folder: folder.url)
    let numbers = 100..<120
    #expect(try numbers.map { try first.input($0) } == numbers.map { try second.input($0) })
    #expect(try numbers.map { try first.input($0) } != numbers.map { try other.input($0) })
    withExtendedLifetime(folder) {}
  }
}
