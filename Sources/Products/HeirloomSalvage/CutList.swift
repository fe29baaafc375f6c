import HeirloomFormats
import HeirloomModel
import HeirloomStore

/// The cuts from a salvaged store, one JSON object per line: they preserve all that was read.
struct CutList {
  private(set) var bytes: [UInt8] = []
  private(set) var omittedCount = 0

  private static let byteLimit = 256 << 20

  /// `subject` is `Entity.property` or the table; `values` are the cut values, by column name.
  mutating func add(
    _ kind: SalvageReport.Cut.Kind, _ subject: String, table: String, key: Int64?, _ values: [(String, FoundValue)]
  ) {
    guard bytes.count < Self.byteLimit else {
      omittedCount += 1
      return
    }
    var writer = CanonicalJSONWriter(isIndented: false)
    writer.beginObject()
    writer.key("cut")
    writer.string(kind.rawValue)
    writer.key("key")
    if let key { writer.integer(key) } else { writer.null() }
    writer.key("subject")
    writer.string(subject)
    writer.key("table")
    writer.string(table)
    writer.key("values")
    writer.beginObject()
    for (name, value) in values.sorted(by: { $0.0 < $1.0 }) {
      writer.key(name)
      Self.write(value, to: &writer)
    }
    writer.endObject()
    writer.endObject()
    bytes += writer.bytes
    bytes.append(UInt8(ascii: "\n"))
  }

  private static func write(_ value: FoundValue, to writer: inout CanonicalJSONWriter) {
    func member(_ name: String, _ text: String) {
      writer.beginObject()
      writer.key(name)
      writer.string(text)
      writer.endObject()
    }
    switch value {
    case .stored(.null): writer.null()
    case .stored(.integer(let number)): writer.integer(number)
    case .stored(.real(let number)):
      if number.isFinite { writer.double(number) } else { writer.string("\(number)") }
    case .stored(.text(let text)): writer.string(text)
    case .stored(.blob(let bytes)): member("base64", bytes.base64)
    case .lost(let bytes), .garbled(let bytes):
      if let text = String(wellFormedUTF8: bytes) {
        member("readable", text)
      } else {
        member("readableBase64", bytes.base64)
      }
    }
  }
}
