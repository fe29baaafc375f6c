import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport

/// The table with a row for each change that a model can undergo.
enum ChangeTable {
  static let rows: [ChangeRow] = attributes + types + storage + relationships + entities + hierarchies + unhashed

  static func row(
    _ name: String, _ source: [EntityDescription], _ destination: [EntityDescription],
    verdict: ModelDifference.Verdict = .lightweight, changes: [String], effects: [String] = [], obstacles: [String] = []
  ) -> ChangeRow {
    ChangeRow(
      name: name, source: source, destination: destination, verdict: verdict, changes: changes, effects: effects,
      obstacles: obstacles)
  }

  static func attributeRow(
    _ name: String, _ before: AttributeDescription?, _ after: AttributeDescription?,
    verdict: ModelDifference.Verdict = .lightweight, changes: [String], effects: [String] = [], obstacles: [String] = []
  ) -> ChangeRow {
    func make(_ attribute: AttributeDescription?) -> EntityDescription {
      Make.entity("E", [attribute].compactMap { $0 })
    }
    return row(
      name, [make(before)], [make(after)], verdict: verdict, changes: changes, effects: effects, obstacles: obstacles)
  }

  static let attributes: [ChangeRow] = [
    attributeRow("no change", attribute("x"), attribute("x"), verdict: .identical, changes: []),
    attributeRow("add attribute", nil, attribute("x"), changes: ["*attributeAdded E.x empty"]),
    attributeRow(
      "add attribute with default", nil, attribute("x") { $0.defaultValue = .string("a") },
      changes: ["*attributeAdded E.x filled"]),
    attributeRow(
      "add required attribute without default", nil, required("x"), changes: ["*attributeAdded E.x rowsDecide"],
      effects: ["missingValue E.x in E.nothing"]),
    attributeRow(
      "add required attribute with default", nil, required("x", default: .string("a")),
      changes: ["*attributeAdded E.x filled"]),
    attributeRow(
      "remove attribute", attribute("x"), nil, changes: ["*attributeRemoved E.x dropped"],
      effects: ["valuesDropped E.x in E.x"]),
    attributeRow(
      "rename attribute", attribute("x"), attribute("y", id: "x"),
      changes: ["*attributeRenamed E.y kept", "renamingIdentifierChanged E.y nothing"]),
    attributeRow(
      "rename attribute without identifier", attribute("x"), attribute("y"),
      changes: ["*attributeRemoved E.x dropped", "*attributeAdded E.y empty"], effects: ["valuesDropped E.x in E.x"]),
    attributeRow(
      "required to optional", required("x"), attribute("x"), changes: ["*becameOptional E.x nothing"]),
    attributeRow(
      "optional to required with default", attribute("x") { $0.defaultValue = .string("a") },
      required("x", default: .string("a")), changes: ["*becameRequired E.x filled"]),
    attributeRow(
      "optional to required without default", attribute("x"), required("x"),
      changes: ["*becameRequired E.x rowsDecide"], effects: ["missingValue E.x in E.x"]),
    attributeRow(
      "default changed", required("x", default: .string("a")), required("x", default: .string("b")),
      verdict: .compatible,
      changes: ["defaultChanged E.x nothing"]),
    attributeRow(
      "same name and another identifier", attribute("x"), attribute("x", id: "new"), verdict: .compatible,
      changes: ["attributeAdded E.x nothing", "attributeRemoved E.x nothing"]),
    attributeRow(
      "same name, another identifier, and a modifier that makes the drop happen", attribute("x"),
      attribute("x", id: "new") { $0.versionHashModifier = "2" },
      changes: ["*attributeAdded E.x empty", "*attributeRemoved E.x dropped"],
      effects: ["valuesDropped E.x in E.x"]),
    row(
      "attribute to relationship", [entity("E", attribute("x"))], [entity("E", relationships: [toOne("x", "E")])],
      changes: ["*attributeBecameRelationship E.x dropped", "*relationshipAdded E.x empty"],
      effects: ["valuesDropped E.x in E.x"]),
    row(
      "relationship to attribute", [entity("E", relationships: [toOne("x", "E")])], [entity("E", attribute("x"))],
      changes: ["*attributeAdded E.x empty", "*relationshipBecameAttribute E.x dropped"],
      effects: ["linksDropped E.x in E.x"]),
  ]

  static let types: [ChangeRow] =
    converted.map { from, to, effect, effects in
      attributeRow(
        "\(from.name) to \(to.name)", attribute("x", from), attribute("x", to), changes: ["*typeChanged E.x \(effect)"],
        effects: effects.map { "\($0) E.x in E.x" })
    }
    + refused.map { from, to in
      attributeRow(
        "\(from.name) to \(to.name)", attribute("x", from), attribute("x", to), verdict: .needsMapping,
        changes: ["*typeChanged E.x refused"], effects: ["valuesDropped E.x in E.x"],
        obstacles: ["incompatibleTypes E.x"])
    }

  static let converted: [(AttributeType, AttributeType, String, [String])] = [
    (.integer16, .integer64, "converted", []), (.integer16, .integer32, "converted", []),
    (.integer64, .double, "converted", ["valuesChanged"]), (.integer32, .double, "converted", []),
    (.integer64, .decimal, "converted", []), (.integer16, .float, "converted", []),
    (.integer32, .float, "converted", []), (.float, .double, "converted", []),
    (.double, .decimal, "converted", []), (.decimal, .double, "converted", []),
    (.double, .float, "rowsDecide", ["overflow"]), (.integer64, .integer32, "rowsDecide", ["overflow"]),
    (.integer64, .integer16, "rowsDecide", ["overflow"]),
    (.double, .integer64, "rowsDecide", ["overflow", "valuesChanged"]),
    (.decimal, .integer16, "rowsDecide", ["overflow", "valuesChanged"]),
    (.boolean, .integer16, "converted", []), (.boolean, .integer64, "converted", []),
    (.integer32, .boolean, "converted", ["valuesChanged"]),
  ]

  static let refused: [(AttributeType, AttributeType)] = [
    (.string, .integer64), (.integer64, .string), (.string, .binary), (.date, .string), (.uuid, .string),
    (.string, .uuid), (.date, .double), (.double, .date), (.boolean, .double), (.double, .boolean), (.boolean, .string),
    (.string, .uri), (.uri, .string), (.binary, .transformable), (.transformable, .binary),
  ]

  static let storage: [ChangeRow] = [
    attributeRow(
      "transient to persistent", attribute("x") { $0.isTransient = true }, attribute("x"),
      changes: ["*becamePersistent E.x empty"]),
    attributeRow(
      "transient to persistent and required", attribute("x") { $0.isTransient = true }, required("x"),
      changes: ["*becameRequired E.x nothing", "*becamePersistent E.x rowsDecide"],
      effects: ["missingValue E.x in E.nothing"]),
    attributeRow(
      "persistent to transient", attribute("x"), attribute("x") { $0.isTransient = true },
      changes: ["*becameTransient E.x dropped"], effects: ["valuesDropped E.x in E.x"]),
    attributeRow(
      "type changed and no longer stored", attribute("x"), attribute("x", .transformable) { $0.isTransient = true },
      changes: ["*typeChanged E.x nothing", "*becameTransient E.x dropped"], effects: ["valuesDropped E.x in E.x"]),
    attributeRow(
      "add transient attribute", nil, attribute("x") { $0.isTransient = true }, verdict: .compatible,
      changes: ["attributeAdded E.x nothing"]),
    attributeRow(
      "remove transient attribute", attribute("x") { $0.isTransient = true }, nil, verdict: .compatible,
      changes: ["attributeRemoved E.x nothing"]),
    attributeRow(
      "external storage on to off", attribute("x", .binary) { $0.allowsExternalBinaryDataStorage = true },
      attribute("x", .binary), verdict: .needsMapping, changes: ["*externalStorageDisabled E.x refused"],
      obstacles: ["externalStorageDisabled E.x"]),
    attributeRow(
      "external storage off to on", attribute("x", .binary),
      attribute("x", .binary) { $0.allowsExternalBinaryDataStorage = true },
      changes: ["*externalStorageEnabled E.x kept"]),
    attributeRow(
      "preservation in history", attribute("x"), attribute("x") { $0.preservesValueInHistoryOnDeletion = true },
      changes: ["*historyPreservationChanged E.x nothing"]),
    attributeRow(
      "add derived attribute", nil, derived("x", "count:(items)", .integer64),
      changes: ["*attributeAdded E.x computed"]),
    attributeRow(
      "remove derived attribute", derived("x", "count:(items)", .integer64), nil,
      changes: ["*attributeRemoved E.x nothing"]),
    attributeRow(
      "attribute becomes derived", attribute("x"), derived("x", "canonical:(name)"),
      changes: ["*derivationAdded E.x computed"], effects: ["valuesDropped E.x in E.x"]),
    attributeRow(
      "attribute is no longer derived", derived("x", "canonical:(name)"), attribute("x"),
      changes: ["*derivationRemoved E.x kept"]),
    attributeRow(
      "derivation changed", derived("x", "canonical:(name)"), derived("x", "canonical:(title)"),
      changes: ["*derivationChanged E.x computed"]),
    attributeRow(
      "hash modifier", attribute("x"), attribute("x") { $0.versionHashModifier = "2" },
      changes: ["*hashModifierChanged E.x nothing"]),
    attributeRow("add composite", nil, composite("c", attribute("a")), changes: ["*attributeAdded E.c empty"]),
    attributeRow(
      "add composite with a required element", nil,
      attribute("c", .composite) {
        $0.isOptional = false
        $0.composite = CompositeAttributeDescription(elements: [required("a")])
      },
      changes: ["*attributeAdded E.c rowsDecide"], effects: ["missingValue E.c.a in E.nothing"]),
    attributeRow(
      "remove composite", composite("c", attribute("a"), attribute("b")), nil,
      changes: ["*attributeRemoved E.c dropped"],
      effects: ["valuesDropped E.c.a in E.c.a", "valuesDropped E.c.b in E.c.b"]),
    attributeRow(
      "add element", composite("c", attribute("a")), composite("c", attribute("a"), attribute("b")),
      changes: ["*elementAdded E.c.b empty"]),
    attributeRow(
      "remove element", composite("c", attribute("a"), attribute("b")), composite("c", attribute("a")),
      changes: ["*elementRemoved E.c.b dropped"], effects: ["valuesDropped E.c.b in E.c.b"]),
    attributeRow(
      "rename element", composite("c", attribute("a")), composite("c", attribute("b", id: "a")),
      changes: ["*elementRenamed E.c.b kept", "renamingIdentifierChanged E.c.b nothing"]),
    attributeRow(
      "element of another type", composite("c", attribute("a", .integer64)), composite("c", attribute("a", .integer32)),
      changes: ["*typeChanged E.c.a rowsDecide"], effects: ["overflow E.c.a in E.c.a"]),
    attributeRow(
      "element of a type that doesn't convert", composite("c", attribute("a")), composite("c", attribute("a", .date)),
      verdict: .needsMapping, changes: ["*typeChanged E.c.a refused"], obstacles: ["incompatibleTypes E.c.a"]),
    attributeRow(
      "attribute to composite", attribute("c"), composite("c", attribute("a")), verdict: .needsMapping,
      changes: ["*typeChanged E.c refused"], effects: ["valuesDropped E.c in E.c"], obstacles: ["incompatibleTypes E.c"]
    ),
    attributeRow(
      "elements reordered", composite("c", attribute("a"), attribute("b")),
      composite("c", attribute("b"), attribute("a")),
      verdict: .compatible, changes: ["elementsReordered E.c nothing"]),
  ]

  static func derived(_ name: String, _ expression: String, _ type: AttributeType = .string) -> AttributeDescription {
    attribute(name, type) {
      $0.derivation = DerivedAttributeDescription(derivationExpression: .unparsed(expression))
    }
  }
}
