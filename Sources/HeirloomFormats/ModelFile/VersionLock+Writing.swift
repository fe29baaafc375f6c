import HeirloomMapping
import HeirloomModel

extension VersionLock {
  package func encoded() -> [UInt8] {
    var writer = CanonicalJSONWriter(isIndented: true)
    writer.json(.object(members))
    return writer.bytes + Array("\n".utf8)
  }

  private var members: [String: JSONValue] {
    let format = format
    var members: [String: JSONValue] = ["format": .integer(Int64(format))]
    if !acknowledgements.isEmpty {
      members["acknowledged"] = .array(
        acknowledgements.map { item in
          var step = Self.members(Step(source: item.source, destination: item.destination))
          step["losses"] = .array(item.losses.map { format == 1 ? .string($0.name) : Self.value($0) })
          return .object(step)
        })
    }
    if !stepsByCode.isEmpty { members["byCode"] = .array(stepsByCode.map { .object(Self.members($0)) }) }
    if !writtenDecisions.isEmpty { members["decisions"] = .array(writtenDecisions) }
    if let floor { members["floor"] = .string(floor) }
    members["versions"] = .array(versions.map { .object($0.members(inFormat: format)) })
    return members
  }

  private static func members(_ step: Step) -> [String: JSONValue] {
    ["from": .string(step.source), "to": .string(step.destination)]
  }

  private static func value(_ loss: Acknowledgement.Loss) -> JSONValue {
    var members: [String: JSONValue] = ["name": .string(loss.name)]
    if let kind = loss.kind { members["kind"] = .string(kind.rawValue) }
    return .object(members)
  }
}

extension VersionLock.Entry {
  package func members(inFormat format: Int) -> [String: JSONValue] {
    var members: [String: JSONValue] = ["name": .string(name)]
    if format > 1 { members["id"] = .string(id) }
    if let checksum { members["checksum"] = .string(checksum) }
    if let entities { members["entities"] = .object(entities.mapValues { .string($0) }) }
    if let release { members["release"] = release }
    if let shape { members["shape"] = shape }
    return members
  }
}

extension CanonicalJSONWriter {
  fileprivate mutating func json(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .boolean(let value): boolean(value)
    case .integer(let value): integer(value)
    case .double(let value): double(value)
    case .string(let value): string(value)
    case .array(let values):
      beginArray()
      for value in values { json(value) }
      endArray()
    case .object(let members):
      beginObject()
      for (name, value) in members.ordered(by: { $0.key }) {
        key(name)
        json(value)
      }
      endObject()
    }
  }
}
