import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport

extension ChangeTable {
  static func relationshipRow(
    _ name: String, _ before: RelationshipDescription?, _ after: RelationshipDescription?,
    verdict: ModelDifference.Verdict = .lightweight, changes: [String], effects: [String] = [], obstacles: [String] = []
  ) -> ChangeRow {
    row(
      name, [entity("E", relationships: [before].compactMap { $0 }), entity("F")],
      [entity("E", relationships: [after].compactMap { $0 }), entity("F")], verdict: verdict, changes: changes,
      effects: effects, obstacles: obstacles)
  }

  static let relationships: [ChangeRow] = [
    relationshipRow("add relationship", nil, toOne("r", "F"), changes: ["*relationshipAdded E.r empty"]),
    relationshipRow(
      "add required to-one relationship", nil, toOne("r", "F") { $0.isOptional = false },
      changes: ["*relationshipAdded E.r rowsDecide"], effects: ["missingLink E.r in E.nothing"]),
    relationshipRow(
      "add required to-many relationship", nil, toMany("r", "F") { $0.isOptional = false },
      changes: ["*relationshipAdded E.r empty"]),
    relationshipRow(
      "remove relationship", toMany("r", "F"), nil, changes: ["*relationshipRemoved E.r dropped"],
      effects: ["linksDropped E.r in E.r"]),
    relationshipRow(
      "rename relationship", toMany("r", "F"), toMany("s", "F", id: "r"),
      changes: ["*relationshipRenamed E.s kept", "renamingIdentifierChanged E.s nothing"]),
    relationshipRow(
      "optional to required to-one", toOne("r", "F"), toOne("r", "F") { $0.isOptional = false },
      changes: ["*becameRequired E.r rowsDecide"], effects: ["missingLink E.r in E.r"]),
    relationshipRow(
      "to-one to to-many", toOne("r", "F"), toMany("r", "F"), changes: ["*becameToMany E.r kept"],
      effects: ["sharedLinks E.r in E.r"]),
    relationshipRow(
      "to-many to to-one", toMany("r", "F"), toOne("r", "F"), changes: ["*becameToOne E.r converted"],
      effects: ["severalLinks E.r in E.r"]),
    relationshipRow(
      "unordered to ordered", toMany("r", "F"), toMany("r", "F") { $0.isOrdered = true },
      changes: ["*becameOrdered E.r kept"]),
    relationshipRow(
      "ordered to unordered", toMany("r", "F") { $0.isOrdered = true }, toMany("r", "F"),
      changes: ["*becameUnordered E.r converted"], effects: ["orderDropped E.r in E.r"]),
    relationshipRow(
      "new minimum", toMany("r", "F"), toMany("r", "F") { $0.minCount = 2 },
      changes: ["*minimumCountChanged E.r kept"], effects: ["tooFewLinks E.r in E.r"]),
    relationshipRow(
      "new maximum", toMany("r", "F"), toMany("r", "F") { $0.maxCount = 5 },
      changes: ["*maximumCountChanged E.r kept"], effects: ["tooManyLinks E.r in E.r"]),
    relationshipRow(
      "larger maximum", toMany("r", "F") { $0.maxCount = 5 }, toMany("r", "F") { $0.maxCount = 6 },
      changes: ["*maximumCountChanged E.r kept"]),
    relationshipRow(
      "a maximum that stays", toMany("r", "F") { $0.maxCount = 5 },
      toMany("r", "F") {
        $0.maxCount = 5
        $0.minCount = 1
      }, changes: ["*minimumCountChanged E.r kept"], effects: ["tooFewLinks E.r in E.r"]),
    row(
      "a relationship becomes its own inverse, which is hashed as none",
      [entity("E", relationships: [toOne("r", "E")])],
      [entity("E", attribute("x"), relationships: [toOne("r", "E", inverse: "r")])],
      changes: ["inverseAdded E.r kept", "*attributeAdded E.x empty"]),
    row(
      "a relationship is no longer its own inverse",
      [entity("E", attribute("x"), relationships: [toOne("r", "E", inverse: "r")])],
      [entity("E", required("x", default: .string("a")), relationships: [toOne("r", "E")])],
      changes: ["inverseRemoved E.r kept", "defaultChanged E.x nothing", "*becameRequired E.x filled"]),
    relationshipRow(
      "delete rule", toOne("r", "F"), toOne("r", "F") { $0.deleteRule = .cascade }, verdict: .compatible,
      changes: ["deleteRuleChanged E.r nothing"]),
    relationshipRow(
      "relationship becomes transient", toOne("r", "F"), toOne("r", "F") { $0.isTransient = true },
      changes: ["*becameTransient E.r dropped"], effects: ["linksDropped E.r in E.r"]),
    row(
      "add inverse",
      [entity("E", relationships: [toOne("r", "F")]), entity("F")],
      [
        entity("E", relationships: [toOne("r", "F", inverse: "s")]),
        entity("F", relationships: [toMany("s", "E", inverse: "r")]),
      ],
      changes: ["*inverseAdded E.r kept", "*relationshipAdded F.s kept"]),
    row(
      "add to-one inverse of a relationship that several objects may share",
      [entity("E", relationships: [toOne("r", "F")]), entity("F")],
      [
        entity("E", relationships: [toOne("r", "F", inverse: "s")]),
        entity("F", relationships: [toOne("s", "E", inverse: "r") { $0.isOptional = false }]),
      ],
      changes: ["*inverseAdded E.r kept", "*relationshipAdded F.s rowsDecide"],
      effects: ["missingLink F.s in F.nothing", "severalLinks F.s in F.nothing"]),
    row(
      "remove inverse",
      [
        entity("E", relationships: [toOne("r", "F", inverse: "s")]),
        entity("F", relationships: [toMany("s", "E", inverse: "r")]),
      ],
      [entity("E", relationships: [toOne("r", "F")]), entity("F")],
      changes: ["*inverseRemoved E.r kept", "*relationshipRemoved F.s kept"]),
    row(
      "remove ordered inverse",
      [
        entity("E", relationships: [toOne("r", "F", inverse: "s")]),
        entity("F", relationships: [toMany("s", "E", inverse: "r") { $0.isOrdered = true }]),
      ],
      [entity("E", relationships: [toOne("r", "F")]), entity("F")],
      changes: ["*inverseRemoved E.r kept", "*relationshipRemoved F.s kept"],
      effects: ["orderDropped F.s in F.s"]),
    row(
      "rename inverse",
      [
        entity("E", relationships: [toOne("r", "F", inverse: "s")]),
        entity("F", relationships: [toMany("s", "E", inverse: "r")]),
      ],
      [
        entity("E", relationships: [toOne("r", "F", inverse: "t")]),
        entity("F", relationships: [toMany("t", "E", inverse: "r", id: "s")]),
      ],
      changes: ["*inverseRenamed E.r kept", "*relationshipRenamed F.t kept", "renamingIdentifierChanged F.t nothing"]),
    row(
      "destination widened to the parent",
      [entity("P"), entity("A", parent: "P"), entity("E", relationships: [toOne("r", "A")])],
      [entity("P"), entity("A", parent: "P"), entity("E", relationships: [toOne("r", "P")])],
      changes: ["*destinationChanged E.r kept"]),
    row(
      "destination narrowed to a subentity",
      [entity("P"), entity("A", parent: "P"), entity("E", relationships: [toOne("r", "P")])],
      [entity("P"), entity("A", parent: "P"), entity("E", relationships: [toOne("r", "A")])],
      changes: ["*destinationChanged E.r dropped"], effects: ["foreignLinks E.r in E.r"]),
    row(
      "destination changed to another entity",
      [entity("A"), entity("B"), entity("E", relationships: [toOne("r", "A")])],
      [entity("A"), entity("B"), entity("E", relationships: [toOne("r", "B")])], verdict: .needsMapping,
      changes: ["*destinationChanged E.r refused"], effects: ["foreignLinks E.r in E.r"],
      obstacles: ["relationshipDestination E.r"]),
    row(
      "links to a removed entity",
      [entity("A"), entity("E", relationships: [toOne("r", "A") { $0.isOptional = false }])],
      [entity("B"), entity("E", relationships: [toOne("r", "B") { $0.isOptional = false }])],
      changes: ["*entityRemoved A dropped", "*entityAdded B nothing", "*destinationChanged E.r dropped"],
      effects: ["objectsDropped A in A", "foreignLinks E.r in E.r", "missingLink E.r in E.r"]),
  ]

  static let entities: [ChangeRow] = [
    row("add entity", [entity("E")], [entity("E"), entity("F", required("x"))], changes: ["*entityAdded F nothing"]),
    row(
      "remove entity", [entity("E"), entity("F", attribute("x"))], [entity("E")], changes: ["*entityRemoved F dropped"],
      effects: ["objectsDropped F in F"]),
    row(
      "rename entity", [entity("E", relationships: [toOne("r", "F")]), entity("F", attribute("x"))],
      [entity("E", relationships: [toOne("r", "G")]), entity("G", id: "F", attribute("x"))],
      changes: ["*destinationRenamed E.r kept", "*entityRenamed G kept", "renamingIdentifierChanged G nothing"]),
    row(
      "concrete to abstract", [entity("E"), entity("F", parent: "E")],
      [entity("E", isAbstract: true), entity("F", parent: "E")],
      changes: ["*becameAbstract E rowsDecide"], effects: ["uninstantiable E in E"]),
    row(
      "abstract to concrete", [entity("E", isAbstract: true)], [entity("E")], changes: ["*becameConcrete E nothing"]),
    row(
      "add constraint", [entity("E", attribute("x"))], [entity("E", attribute("x"), unique: [["x"]])],
      changes: ["*constraintAdded E rowsDecide"], effects: ["duplicate E.x in E.x"]),
    row(
      "add constraint of a new attribute", [entity("E", attribute("x"))],
      [entity("E", attribute("x"), attribute("y"), unique: [["x", "y"]])],
      changes: ["*constraintAdded E kept", "*attributeAdded E.y empty"]),
    row(
      "constraint widened", [entity("E", attribute("x"), attribute("y"), unique: [["x"]])],
      [entity("E", attribute("x"), attribute("y"), unique: [["x", "y"]])],
      changes: ["*constraintAdded E kept", "*constraintRemoved E nothing"]),
    row(
      "constraint on an attribute that is rounded", [entity("E", attribute("x", .double), unique: [["x"]])],
      [entity("E", attribute("x", .integer64), unique: [["x"]])],
      changes: ["*typeChanged E.x rowsDecide"],
      effects: ["duplicate E.x in E.x", "overflow E.x in E.x", "valuesChanged E.x in E.x"]),
    row(
      "constraint moved to the parent",
      [
        entity("P", attribute("x")), entity("A", parent: "P", unique: [["x"]]),
        entity("B", parent: "P", unique: [["x"]]),
      ],
      [entity("P", attribute("x"), unique: [["x"]]), entity("A", parent: "P"), entity("B", parent: "P")],
      changes: ["*constraintRemoved A nothing", "*constraintRemoved B nothing", "*constraintAdded P rowsDecide"],
      effects: ["duplicate P.x in A.x, B.x, P.x"]),
    row(
      "constraints of siblings become one of the abstract parent",
      [
        entity("P", isAbstract: true, attribute("x")), entity("A", parent: "P", unique: [["x"]]),
        entity("B", parent: "P", unique: [["x"]]),
      ],
      [
        entity("P", isAbstract: true, attribute("x"), unique: [["x"]]), entity("A", parent: "P"),
        entity("B", parent: "P"),
      ],
      changes: ["*constraintRemoved A nothing", "*constraintRemoved B nothing", "*constraintAdded P rowsDecide"],
      effects: ["duplicate P.x in A.x, B.x"]),
    row(
      "remove constraint", [entity("E", attribute("x"), unique: [["x"]])], [entity("E", attribute("x"))],
      changes: ["*constraintRemoved E nothing"]),
    row(
      "entity hash modifier", [entity("E")], [entity("E") { $0.versionHashModifier = "2" }],
      changes: ["*hashModifierChanged E nothing"]),
    row(
      "two entities claim one identifier", [entity("A", attribute("x"))],
      [entity("B", id: "A", attribute("x")), entity("C", id: "A", attribute("x"))], verdict: .needsMapping,
      changes: ["*entityRemoved A refused", "*entityAdded B refused", "*entityAdded C refused"],
      effects: ["objectsDropped A in A"], obstacles: ["ambiguousEntity B"]),
    row(
      "two attributes claim one identifier", [entity("E", attribute("a"))],
      [entity("E", attribute("a"), attribute("b", id: "a"))], verdict: .needsMapping,
      changes: ["*attributeAdded E.a refused", "*attributeRemoved E.a refused", "*attributeAdded E.b refused"],
      effects: ["valuesDropped E.a in E.a"], obstacles: ["ambiguousProperty E.a"]),
  ]

  static let hierarchies: [ChangeRow] = [
    row(
      "new parent", [entity("E", attribute("x"))],
      [entity("P", isAbstract: true), entity("E", parent: "P", attribute("x"))],
      changes: ["*parentChanged E kept", "*entityAdded P nothing"]),
    row(
      "new parent that takes an attribute", [entity("E", attribute("x"))],
      [entity("P", isAbstract: true, attribute("x")), entity("E", parent: "P")],
      changes: ["*parentChanged E kept", "*entityAdded P nothing", "*attributeMoved P.x kept"]),
    row(
      "new child", [entity("E", attribute("x"))], [entity("E", attribute("x")), entity("C", parent: "E")],
      changes: ["*entityAdded C nothing"]),
    row(
      "remove an intermediate parent, one attribute moves down",
      [
        entity("P"), entity("M", parent: "P", isAbstract: true, attribute("x"), attribute("y")),
        entity("A", parent: "M"),
      ],
      [entity("P"), entity("A", parent: "P", attribute("x"))],
      changes: [
        "*parentChanged A kept", "*attributeMoved A.x kept", "*attributeRemoved A.y dropped",
        "*entityRemoved M nothing",
      ],
      effects: ["valuesDropped M.y in A.y"]),
    row(
      "move an attribute up", [entity("P"), entity("A", parent: "P", attribute("x")), entity("B", parent: "P")],
      [entity("P", attribute("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      changes: ["*attributeMoved P.x kept"]),
    row(
      "move a required attribute up",
      [entity("P"), entity("A", parent: "P", required("x")), entity("B", parent: "P")],
      [entity("P", required("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      changes: ["*attributeMoved P.x rowsDecide"], effects: ["missingValue P.x in B.nothing, P.nothing"]),
    row(
      "move an attribute down",
      [entity("P", isAbstract: true, attribute("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      [entity("P", isAbstract: true), entity("A", parent: "P", attribute("x")), entity("B", parent: "P")],
      changes: ["*attributeMoved A.x kept", "*attributeRemoved P.x dropped"],
      effects: ["valuesDropped P.x in B.x"]),
    row(
      "move an attribute down to all",
      [entity("P", isAbstract: true, attribute("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      [
        entity("P", isAbstract: true), entity("A", parent: "P", attribute("x")),
        entity("B", parent: "P", attribute("x")),
      ],
      changes: ["*attributeMoved A.x kept", "*attributeMoved B.x kept", "*attributeRemoved P.x nothing"]),
    row(
      "merge the attributes of siblings",
      [
        entity("P", isAbstract: true), entity("A", parent: "P", attribute("x")),
        entity("B", parent: "P", attribute("y", id: "x")),
      ],
      [entity("P", isAbstract: true, attribute("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      changes: ["*attributeRenamed P.x kept", "*attributeMoved P.x kept", "renamingIdentifierChanged P.x nothing"]),
    row(
      "move a relationship up",
      [entity("P"), entity("A", parent: "P", relationships: [toOne("r", "P")])],
      [entity("P", relationships: [toOne("r", "P")]), entity("A", parent: "P")],
      changes: ["*relationshipMoved P.r kept"]),
    row(
      "move an entity into a hierarchy",
      [entity("P"), entity("A", parent: "P"), entity("E", attribute("x"))],
      [entity("P"), entity("A", parent: "P"), entity("E", parent: "P", attribute("x"))],
      changes: ["*parentChanged E kept"]),
    row(
      "move an entity out of a hierarchy",
      [entity("P", attribute("n")), entity("E", parent: "P", attribute("x"))],
      [entity("P", attribute("n")), entity("E", attribute("n"), attribute("x"))],
      changes: ["*parentChanged E kept", "*attributeMoved E.n kept"]),
    row(
      "a common parent for entities that had none", [entity("A", attribute("x")), entity("B", attribute("x"))],
      [entity("P", isAbstract: true, attribute("x")), entity("A", parent: "P"), entity("B", parent: "P")],
      verdict: .needsMapping,
      changes: [
        "*parentChanged A refused", "*parentChanged B refused", "*entityAdded P nothing", "*attributeMoved P.x kept",
      ],
      obstacles: ["mergedHierarchies P"]),
    row(
      "a hierarchy moved below another",
      [entity("P"), entity("A", parent: "P"), entity("Q"), entity("B", parent: "Q")],
      [entity("P"), entity("A", parent: "P"), entity("Q", parent: "P"), entity("B", parent: "Q")],
      verdict: .needsMapping, changes: ["*parentChanged Q refused"], obstacles: ["mergedHierarchies P"]),
  ]

  /// A store doesn't know class names, validation, Spotlight, indexes and user info.
  static let unhashed: [ChangeRow] = [
    attributeRow(
      "what only the program knows of an attribute", attribute("x", .transformable),
      attribute("x", .transformable) {
        $0.valueTransformerName = "T"
        $0.attributeValueClassName = "C"
        $0.userInfo = ["a": "b"]
        $0.validationRules = [ValidationRule(predicate: .alwaysTrue)]
        $0.isIndexedBySpotlight = true
        $0.allowsCloudEncryption = true
        $0.isStoredInExternalRecord = true
      }, verdict: .compatible,
      changes: [
        "valueClassChanged E.x nothing", "transformerChanged E.x nothing", "cloudEncryptionChanged E.x nothing",
        "externalRecordChanged E.x nothing", "validationChanged E.x nothing", "spotlightIndexingChanged E.x nothing",
        "userInfoChanged E.x nothing",
      ]),
    row(
      "indexes", [entity("E", attribute("x")) { $0.indexes = [index("a"), index("b")] }],
      [entity("E", attribute("x")) { $0.indexes = [index("b", ascending: false), index("c")] }], verdict: .compatible,
      changes: ["indexAdded E nothing", "indexRemoved E nothing", "indexChanged E nothing"]),
    row(
      "what only the program knows of an entity", [entity("E")],
      [
        entity("E") {
          $0.managedObjectClassName = "E"
          $0.userInfo = ["a": "b"]
          $0.coreSpotlightDisplayNameExpression = .keyPath("x")
        }
      ], verdict: .compatible,
      changes: ["entityClassChanged E nothing", "spotlightNameChanged E nothing", "userInfoChanged E nothing"]),
  ]

  static func index(_ name: String, ascending: Bool = true) -> FetchIndexDescription {
    FetchIndexDescription(
      name: name, elements: [FetchIndexElementDescription(subject: .property("x"), isAscending: ascending)])
  }
}
