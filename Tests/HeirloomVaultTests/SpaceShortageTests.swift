import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import Testing
import HeirloomVault

struct SpaceShortageTests {
  private func shortage(_ body: () throws -> Void) throws -> SpaceShortage {
    let error = try #require(throws: VaultError.self) { try body() }
    guard case .notEnoughSpace(let shortage) = error else { throw error }
    return shortage
  }

  @Test(arguments: [VolumeInformation.Kind.local, .fileAllocationTable], [VaultFixture.Shape.rollback, .wal])
  func `room is asked for what is built and, where there are no links, for what is kept`(
    kind: VolumeInformation.Kind, shape: VaultFixture.Shape
  ) throws {
    let fixture = try VaultFixture(shape, externalFiles: 3)
    // The fixture reads the store first, which may leave SQLite's index of the -wal.
    func data() throws -> [String: Data] {
      try fixture.bytes().filter { !$0.key.hasSuffix("-shm") && !$0.value.isEmpty }
    }
    let bytes = try data()
    var configuration = VaultConfiguration()
    configuration.allowUnsafeVolume = true
    func vault(_ available: UInt64) -> StoreVault {
      StoreVault(
        fixture.location,
        files: FaultyFiles(refusesLinks: kind != .local, volumeKind: kind, availableBytes: available),
        configuration: configuration)
    }
    let none = try shortage { _ = try fixture.migrate(vault(0)) }
    let main = [fixture.location.path, fixture.location.path + "-wal"].reduce(UInt64(0)) { sum, path in
      sum + UInt64((try? Data(contentsOf: URL(fileURLWithPath: path)))?.count ?? 0)
    }
    #expect(none.previousVersionBytes == (kind == .local ? 0 : main + 3_000))
    // This is the fixture's demand, a tenth more, and the reserve.
    #expect(none.neededBytes == 10_000 + 1_000 + configuration.reservedBytes + none.previousVersionBytes)
    #expect(none.availableBytes == 0 && none.folder == fixture.location.directory)
    #expect(none.storePath == fixture.location.path)
    for figure in [none.neededBytes, none.availableBytes] {
      #expect(none.description.contains(CountText.size(figure)))
    }
    let close = try shortage { _ = try fixture.migrate(vault(none.neededBytes - 1)) }
    #expect(close.availableBytes == none.neededBytes - 1 && close.neededBytes == none.neededBytes)
    #expect(close.description.contains(CountText.grouped(none.neededBytes - 1)))
    #expect(try data() == bytes)
    #expect(try fixture.vault().previousVersions() == [])

    #expect(try fixture.migrate(vault(none.neededBytes)) != nil)
    // Going back needs space as well: for the copy, and for the version that is kept.
    let migrated = try fixture.bytes()
    let back = try shortage { _ = try vault(0).restore("2") }
    #expect(back.neededBytes > configuration.reservedBytes && (back.previousVersionBytes == 0) == (kind == .local))
    #expect(try fixture.bytes() == migrated)
    _ = try vault(back.neededBytes).restore("2")
    #expect(try fixture.content().version == 1)
  }
}
