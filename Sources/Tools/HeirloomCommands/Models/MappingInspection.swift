import Heirloom
import HeirloomOutput

struct MappingInspection {
  private let path: String
  private let read: ReadMappingModel
  private let kind: MappingModelFile.Kind

  init(path: String) throws(MappingReadingError) {
    self.path = path
    (read, kind) = try MappingModelFile.read(path)
  }

  func report(_ style: TextStyle) -> CommandReport {
    let mappings = read.mappingModel.entityMappings
    var report = CommandReport()
    report.members = [
      ("kind", .text("mappingModel")), ("path", .text(path)), ("isCompiled", .boolean(kind == .compiled)),
      ("sourceModelPath", .optional(read.sourceModelPath)),
      ("destinationModelPath", .optional(read.destinationModelPath)),
      ("policies", .texts(read.mappingModel.policyNames)),
      ("entityMappings", .list(mappings.map(output))), ("warnings", .texts(read.warnings.map(\.description))),
    ]
    report.lines = ["\(style.bold(path)): \(kind == .compiled ? "a compiled mapping model" : "a mapping model")"]
    if let name = read.sourceModelPath { report.lines.append("  from         \(name)") }
    if let name = read.destinationModelPath { report.lines.append("  to           \(name)") }
    let policies = read.mappingModel.policyNames
    if !policies.isEmpty { report.lines.append("  policies     \(listText(policies)) (only the app has them)") }
    for warning in read.warnings { report.lines.append(style.yellow("  note: ") + warning.description) }
    report.lines += ["", counted(Int64(mappings.count), "entity mapping") + ":"]
    for mapping in mappings { report.lines += lines(of: mapping, style) }
    return report
  }

  private func lines(of mapping: EntityMapping, _ style: TextStyle) -> [String] {
    let ends = "\(mapping.sourceEntityName ?? "nothing") → \(mapping.destinationEntityName ?? "nothing")"
    let type = mapping.mappingType == .undefined ? "" : ", \(mapping.mappingType.name)"
    let policy = mapping.entityMigrationPolicyClassName.map { ", policy \($0)" } ?? ""
    var lines = ["  \(style.bold(mapping.name)): \(ends)\(type)\(policy)"]
    if let rows = mapping.sourceExpression {
      if let source = rows.sourceRows, source.entity == mapping.sourceEntityName {
        if source.predicate != "TRUEPREDICATE" { lines.append("    where \(source.predicate)") }
      } else {
        lines.append("    rows: \(rows.predicateFormat)")
      }
    }
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      lines.append("    \(property.name) = \(property.valueExpression?.predicateFormat ?? "the model's default")")
    }
    if let open = mapping.openProperties {
      let names = open.attributes + open.relationships
      if !names.isEmpty { lines.append("    of the same name: \(listText(names, limit: 200))") }
    }
    for (key, value) in mapping.userInfo.sorted(by: { $0.key < $1.key }) {
      lines.append("    user info: \(key) = \(value)")
    }
    return lines
  }

  private func output(_ mapping: EntityMapping) -> OutputValue {
    let open = mapping.openProperties
    let inferred = (open?.attributes ?? []) + (open?.relationships ?? [])
    var userInfo = OutputMembers()
    for (key, value) in mapping.userInfo.sorted(by: { $0.key < $1.key }) { userInfo.append(key, .text(value)) }
    var members = OutputMembers()
    members.append("name", .text(mapping.name))
    members.append("type", .text(mapping.mappingType.name))
    members.append("source", .optional(mapping.sourceEntityName))
    members.append("destination", .optional(mapping.destinationEntityName))
    members.append("sourceHash", .optional(mapping.sourceEntityVersionHash?.description))
    members.append("destinationHash", .optional(mapping.destinationEntityVersionHash?.description))
    members.append("policy", .optional(mapping.entityMigrationPolicyClassName))
    members.append("rows", .optional(mapping.sourceExpression?.predicateFormat))
    members.append("attributes", .list(mapping.attributeMappings.map(output)))
    members.append("relationships", .list(mapping.relationshipMappings.map(output)))
    members.append("inferred", .texts(inferred))
    members.append("userInfo", .object(userInfo))
    return .object(members)
  }

  private func output(_ property: PropertyMapping) -> OutputValue {
    .object([("name", .text(property.name)), ("value", .optional(property.valueExpression?.predicateFormat))])
  }
}
