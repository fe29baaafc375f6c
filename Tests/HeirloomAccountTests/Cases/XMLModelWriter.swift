import Foundation

extension XMLModel {
  /// A `contents` file, as Xcode writes it.
  var xml: String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
      #"<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="22G91" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="\#(identifier)">"#,
    ]
    for entity in entities {
      lines.append(
        Self.tag(
          "entity",
          [
            ("name", entity.name), ("parentEntity", entity.parent), ("isAbstract", entity.isAbstract ? "YES" : nil),
            ("elementID", entity.identifier == entity.name ? nil : entity.identifier), ("syncable", "YES"),
          ], isOpen: true))
      lines += entity.attributes.map(Self.line) + entity.relationships.map(Self.line)
      if !entity.uniqueAttributes.isEmpty {
        let constraints = entity.uniqueAttributes.map {
          #"<uniquenessConstraint><constraint value="\#($0)"/></uniquenessConstraint>"#
        }
        lines.append("<uniquenessConstraints>\(constraints.joined())</uniquenessConstraints>")
      }
      lines.append("</entity>")
    }
    return (lines + ["</model>", ""]).joined(separator: "\n")
  }

  func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(xml.utf8).write(to: folder.appendingPathComponent("contents"))
  }

  private static func line(_ attribute: Attribute) -> String {
    tag(
      "attribute",
      [
        ("name", attribute.name), ("optional", attribute.isOptional ? "YES" : nil),
        ("transient", attribute.isTransient ? "YES" : nil), ("attributeType", attribute.type),
        (attribute.type == "Date" ? "defaultDateTimeInterval" : "defaultValueString", attribute.defaultValue),
        ("allowsExternalBinaryDataStorage", attribute.isExternal ? "YES" : nil),
        ("elementID", attribute.identifier == attribute.name ? nil : attribute.identifier),
      ])
  }

  private static func line(_ relationship: Relationship) -> String {
    tag(
      "relationship",
      [
        ("name", relationship.name), ("optional", relationship.isOptional ? "YES" : nil),
        ("transient", relationship.isTransient ? "YES" : nil),
        ("toMany", relationship.isToMany ? "YES" : nil), ("maxCount", relationship.isToMany ? nil : "1"),
        ("ordered", relationship.isOrdered ? "YES" : nil), ("deletionRule", "Nullify"),
        ("destinationEntity", relationship.destination), ("inverseName", relationship.inverse),
        ("inverseEntity", relationship.inverseEntity),
        ("elementID", relationship.identifier == relationship.name ? nil : relationship.identifier),
      ])
  }

  private static func tag(_ name: String, _ attributes: [(String, String?)], isOpen: Bool = false) -> String {
    let texts = attributes.compactMap { key, value in value.map { " \(key)=\"\($0)\"" } }
    return "<\(name)\(texts.joined())\(isOpen ? "" : "/")>"
  }
}
