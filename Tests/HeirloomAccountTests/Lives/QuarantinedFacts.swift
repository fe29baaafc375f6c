import Foundation

/// The values in a file of quarantined rows, wherever they are in its lines.
struct QuarantinedFacts {
  private(set) var counts: [Fact: Int] = [:]

  /// Lines that are no JSON hold nothing; `folder` has the store's external files.
  init(of url: URL, folder: URL, models: [XMLModel]) {
    for line in ((try? Data(contentsOf: url)) ?? Data()).split(separator: UInt8(ascii: "\n")) {
      guard let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else { continue }
      add(object, folder)
      guard let number = (object["attributes"] as? [String: Any])?[SeededCase.mark] as? NSNumber else { continue }
      for entity in models.compactMap({ $0.entity(object["entity"] as? String ?? "") }) {
        counts[.object(entity.identifier, .integer(number.int64Value))] = 1
      }
    }
  }

  private mutating func add(_ value: Any, _ folder: URL) {
    switch value {
    case let members as [String: Any]:
      for (key, member) in members {
        if key == "file", let path = member as? String {
          add(.blob((try? Array(Data(contentsOf: folder.appendingPathComponent(path)))) ?? []))
        } else if key == "base64", let text = member as? String {
          add(.blob(Data(base64Encoded: text).map { Array($0) } ?? []))
        } else {
          add(member, folder)
        }
      }
    case let elements as [Any]: for element in elements { add(element, folder) }
    case let text as String:
      add(.text(text))
      if let id = UUID(uuidString: text) { add(.blob(withUnsafeBytes(of: id.uuid) { Array($0) })) }
      if let number = Double(text) { add(.real(number)) }
    case let number as NSNumber: add(.real(number.doubleValue))
    default: break
    }
  }

  private mutating func add(_ cell: Cell) {
    if let value = LifeValues.own(cell) { counts[.value(value)] = 1 }
  }
}
