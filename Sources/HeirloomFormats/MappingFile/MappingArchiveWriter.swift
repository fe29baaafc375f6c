package import HeirloomMapping
import HeirloomModel

/// A writer of compiled mapping models (`.cdm`), in the layout of Xcode's compiler.
package enum MappingArchiveWriter {
  /// A mapping model that isn't completed is archived with its gaps.
  ///
  /// Throws ``FormatError`` if an expression can't be archived.
  package static func archive(_ mappingModel: MappingModel) throws(FormatError) -> [UInt8] {
    // Expressions are archived by the model writer, which needs a model.
    var archive = Archive(writer: ModelArchiveWriter(.empty))
    return try archive.bytes(of: mappingModel)
  }

  private struct Archive {
    var writer: ModelArchiveWriter

    mutating func bytes(of mappingModel: MappingModel) throws(FormatError) -> [UInt8] {
      var references: [PropertyListValue] = []
      for mapping in mappingModel.entityMappings { references.append(try entityMapping(mapping)) }
      let byName = zip(mappingModel.entityMappings, references).map { (key: $0.name, value: $1) }
        .ordered { $0.key }
      let list = writer.builder.array(references, className: "NSArray")
      let dictionary = writer.builder.dictionary(byName)
      let root = writer.builder.object(
        "NSMappingModel", ["NSEntityMappings": list, "NSEntityMappingsByName": dictionary])
      return try writer.builder.bytes(root: root)
    }

    private mutating func entityMapping(
      _ mapping: EntityMapping
    ) throws(FormatError) -> PropertyListValue {
      let place = "\"\(mapping.name)\""
      let members: [String: PropertyListValue] = [
        "NSMappingName": writer.builder.string(mapping.name),
        "NSMappingType": .integer(Int64(mapping.mappingType.rawValue)),
        "NSSourceEntityName": writer.builder.string(mapping.sourceEntityName),
        "NSSourceEntityVersionHash": hash(mapping.sourceEntityVersionHash),
        "NSDestinationEntityName": writer.builder.string(mapping.destinationEntityName),
        "NSDestinationEntityVersionHash": hash(mapping.destinationEntityVersionHash),
        "NSSourceExpression": try expression(mapping.sourceExpression, "the source of \(place)"),
        "NSEntityMigrationPolicyClassName": writer.builder.string(mapping.entityMigrationPolicyClassName),
        "NSAttributeMappings": try propertyMappings(mapping.attributeMappings, place),
        "NSRelationshipMappings": try propertyMappings(mapping.relationshipMappings, place),
        "NSUserInfo": userInfo(mapping.userInfo),
      ]
      return writer.builder.object("NSEntityMapping", members)
    }

    private mutating func propertyMappings(
      _ mappings: [PropertyMapping], _ place: String
    ) throws(FormatError) -> PropertyListValue {
      var references: [PropertyListValue] = []
      for mapping in mappings {
        let members: [String: PropertyListValue] = [
          "NSDestinationPropertyName": writer.builder.string(mapping.name),
          "NSValueExpression": try expression(mapping.valueExpression, "\(place).\(mapping.name)"),
          "NSPropertyTransforms": KeyedArchiveBuilder.null, "NSUserInfo": userInfo(mapping.userInfo),
        ]
        references.append(writer.builder.object("NSPropertyMapping", members))
      }
      return writer.builder.array(references, className: "NSArray")
    }

    private mutating func expression(
      _ expression: ValueExpression?, _ place: String
    ) throws(FormatError) -> PropertyListValue {
      guard let expression else { return KeyedArchiveBuilder.null }
      guard let reference = writer.expression(expression) else {
        throw FormatError("The expression of \(place) is of a kind that can't be archived.")
      }
      return reference
    }

    private mutating func hash(_ hash: VersionHash?) -> PropertyListValue {
      guard let hash else { return KeyedArchiveBuilder.null }
      return writer.builder.add(.data(hash.bytes))
    }

    private mutating func userInfo(_ entries: [String: String]) -> PropertyListValue {
      entries.isEmpty ? KeyedArchiveBuilder.null : writer.userInfo(entries)
    }
  }
}
