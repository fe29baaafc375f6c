import HeirloomModel
import Testing

struct VersionHashTests {
  @Test func `the hash printed in the tutorial that shipped the model Done`() throws {
    var item = EntityDescription(name: "Item")
    item.attributes = [
      AttributeDescription(name: "createdAt", type: .date), AttributeDescription(name: "done", type: .boolean),
      AttributeDescription(name: "name", type: .string),
    ]
    let model = try ManagedObjectModel(entities: [item])
    #expect(
      model.versionHashes()["Item"]?.description == "4c8802263219fc66283b28c554f026dc7f95af5fc19fb76e255a26a72a2a79f5")
  }

  @Test func `a stored digest of another length is refused`() {
    #expect(throws: VersionHashError.wrongLength(found: 31)) { try VersionHash([UInt8](repeating: 0, count: 31)) }
  }
}
