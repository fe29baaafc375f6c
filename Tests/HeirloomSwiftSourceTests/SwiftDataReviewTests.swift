import HeirloomSwiftSource
import Testing

/// The traps of SwiftData's versions: each as a small source with the fault, and mended.
struct SwiftDataReviewTests {
  /// A source with a fault, and the same without it.
  ///
  /// A comment such as `// error: liveType` names what is to be found on its line; nothing else is.
  struct Trap: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let fault: String
    let mends: [String]

    init(_ name: String, _ fault: String, mends: String...) {
      (testDescription, self.fault, self.mends) = (name, fault, mends)
    }
  }

  private static func review(
    _ text: String, shipped: [(name: String, hashes: [String: String])] = []
  ) -> [HistoryFinding] {
    var source = SwiftDataSource()
    source.add(Array(text.utf8), path: "App.swift")
    return SwiftDataReview(SwiftDataSchemas(source), shipped: shipped).findings
  }

  /// Those that the comments of the source name.
  private static func expected(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { offset, line in
      line.split(separator: "//").dropFirst().map { comment in
        let words = comment.split { ": ".contains($0) }
        return "\(offset + 1) \(words.joined(separator: " "))"
      }
    }
  }

  private static func lines(_ findings: [HistoryFinding]) -> [String] {
    findings.map { "\($0.place?.line ?? 0) \($0.severity.rawValue) \($0.rule)" }
  }

  func check(_ trap: Trap) {
    let findings = Self.review(trap.fault)
    #expect(!findings.isEmpty)
    #expect(Self.lines(findings).sorted() == Self.expected(trap.fault).sorted(), "\(findings.map(\.message))")
    for mend in trap.mends {
      let findings = Self.review(mend)
      #expect(Self.lines(findings) == Self.expected(mend), "\(findings.map(\.message))")
    }
  }

  // MARK: - Parts of sources

  static func schema(
    _ name: String, _ version: String, _ content: String, models: String = "Crate.self", comment: String = "",
    number: String = ""
  ) -> String {
    """
    enum \(name): VersionedSchema { \(comment)
      static let versionIdentifier = Schema.Version(\(version)) \(number)
      static var models: [any PersistentModel.Type] { [\(models)] }
      \(content)
    }

    """
  }

  static func crate(_ properties: String = "", name: String = "Crate") -> String {
    "@Model final class \(name) { var code = \"\"; \(properties)\ninit() {} }"
  }

  static func plan(_ schemas: String, _ stages: String, comment: String = "") -> String {
    """
    enum Plan: SchemaMigrationPlan { \(comment)
      static var schemas: [any VersionedSchema.Type] { [\(schemas)] }
      static var stages: [MigrationStage] { [\(stages)] }
    }

    """
  }

  static let lightweight = ".lightweight(fromVersion: V1.self, toVersion: V2.self)"
  static let custom = ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { _ in })"
  static let prepared = ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: { _ in }, didMigrate: nil)"

  static func step(_ old: String, _ new: String, _ stage: String = lightweight) -> String {
    schema("V1", "1, 0, 0", old) + schema("V2", "2, 0, 0", new) + plan("V1.self, V2.self", stage)
  }

  static func change(_ old: String, _ new: String, _ stage: String = lightweight) -> String {
    step(crate(old), crate(new), stage)
  }

  static let good = change("", "var size = 0")

  // MARK: - Plans

  static let plans: [Trap] = [
    Trap(
      "two versions list the same class",
      crate() + "\n" + schema("V1", "1, 0, 0", "")
        + schema("V2", "2, 0, 0", "", comment: "// error: equalChecksums") + plan("V1.self, V2.self", lightweight),
      mends: good),
    Trap(
      "the change is not hashed",
      schema("V1", "1, 0, 0", crate("var size = 0"))
        + schema("V2", "2, 0, 0", crate("var size = 1"), comment: "// error: equalChecksums")
        + plan("V1.self, V2.self", lightweight),
      mends: change("var size = 0", "var size: Double = 1")),
    Trap(
      "a version returns to an older one",
      schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 1"))
        + schema("V3", "3, 0, 0", crate(), comment: "// error: equalChecksums")
        + plan("V1.self, V2.self, V3.self", ""),
      mends: schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 1"))
        + schema("V3", "3, 0, 0", crate("var size = 1.0")) + plan("V1.self, V2.self, V3.self", "")),
    Trap(
      "one identifier for two versions",
      schema("V1", "1, 0, 0", crate())
        + schema("V2", "1, 0, 0", crate("var size = 0"), number: "// error: reusedIdentifier")
        + plan("V1.self, V2.self", lightweight),
      mends: good),
    Trap(
      "a falling identifier",
      schema("V1", "1, 10, 0", crate())
        + schema("V2", "1, 9, 0", crate("var size = 0"), number: "// warning: fallingIdentifier")
        + plan("V1.self, V2.self", lightweight),
      mends: good,
      schema("V1", "1, 9, 0", crate()) + schema("V2", "1, 10, 0", crate("var size = 0"))
        + plan("V1.self, V2.self", lightweight)),
    Trap(
      "a pair without a stage",
      schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 0"))
        + schema("V3", "3, 0, 0", crate("var size = 0; var note = \"\""))
        + plan("V1.self, V2.self, V3.self", lightweight, comment: "// error: missingStage"),
      mends: schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 0"))
        + schema("V3", "3, 0, 0", crate("var size = 0; var note = \"\""))
        + plan(
          "V1.self, V2.self, V3.self", lightweight + ", .lightweight(fromVersion: V2.self, toVersion: V3.self)"),
      // Without any stage, all is inferred.
      schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 0"))
        + plan("V1.self, V2.self", "")),
    Trap(
      "a stage that leads backwards",
      change("", "var size = 0", ".lightweight(fromVersion: V2.self, toVersion: V1.self) // error: strayStage\n"),
      mends: good),
    Trap(
      "a stage that is there twice",
      change("", "var size = 0", lightweight + ",\n" + lightweight + "// error: strayStage\n"),
      mends: good),
    Trap(
      "a stage that skips a version",
      schema("V1", "1, 0, 0", crate()) + schema("V2", "2, 0, 0", crate("var size = 0"))
        + schema("V3", "3, 0, 0", crate("var size = 0; var note = \"\""))
        + plan(
          "V1.self, V2.self, V3.self",
          lightweight + ", .lightweight(fromVersion: V2.self, toVersion: V3.self),\n"
            + ".lightweight(fromVersion: V1.self, toVersion: V3.self) // error: strayStage\n"),
      mends: good),
    Trap(
      "a stage about a schema that the plan lacks",
      schema("V0", "0, 1, 0", crate("var old = 0"), comment: "// warning: schemaOutsidePlan")
        + change(
          "", "var size = 0",
          lightweight + ",\n.lightweight(fromVersion: V0.self, toVersion: V1.self) // error: strayStage\n"),
      mends: schema("V0", "0, 1, 0", crate("var old = 0")) + schema("V1", "1, 0, 0", crate())
        + schema("V2", "2, 0, 0", crate("var size = 0"))
        + plan(
          "V0.self, V1.self, V2.self",
          ".lightweight(fromVersion: V0.self, toVersion: V1.self), " + lightweight)),
    Trap(
      "a schema outside the plan",
      good + schema("V3", "3, 0, 0", crate(), comment: "// warning: schemaOutsidePlan"),
      mends: good,
      good + schema("Cache", "1, 0, 0", crate(name: "Page"), models: "Page.self"),
      good + schema("Mock", "1, 0, 0", crate()) + "enum Other: SchemaMigrationPlan { "
        + "static let schemas = [Mock.self]; static let stages = [] }"),
    Trap(
      "a schema that is declared twice",
      "enum V1: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0)\n"
        + "static let models: [any PersistentModel.Type] = [Crate.self] }\n" + crate()
        + "\nenum V1: VersionedSchema { // warning: repeatedSchema\n"
        + "static let versionIdentifier = Schema.Version(1, 0, 0)\n"
        + "static let models: [any PersistentModel.Type] = [Crate.self] }",
      mends: schema("V1", "1, 0, 0", crate())),
    Trap(
      "classes without a version",
      crate() + "\nfunc f() throws { _ = try ModelContainer(for: Crate.self) } // note: unversionedModels",
      mends: good + "func f() throws { _ = try ModelContainer(for: V2.Crate.self) }"),
  ]

  static let unknown: [Trap] = [
    Trap(
      "schemas that only the compiler knows",
      change("", "var size: Int").replacing(
        "[V1.self, V2.self]", with: "[V2.self, V1.self] + make() // note: uncertain\n")
        + "func f() throws { _ = try ModelContainer(for: V2.Crate.self, migrationPlan: Plan.self) }"),
    Trap(
      "stages that only the compiler knows",
      schema("V0", "0, 1, 0", crate("var width: Int?"))
        + schema("V1", "1, 0, 0", crate("var width: Int; var size: Int // warning: missingDefault"))
        + schema("V2", "2, 0, 0", crate("var width: Int; var size: Int; var depth: Int // error: missingDefault"))
        + plan("V0.self, V1.self, V2.self", lightweight + ", make() // note: uncertain\n")),
    Trap(
      "a first version by way of a protocol",
      schema("V1", "1, 0, 0", crate()).replacing("VersionedSchema", with: "Base")
        + plan("V1.self", "", comment: "// note: uncertain") + "protocol Base: VersionedSchema {}\n"
        + "func f() throws { _ = try ModelContainer(for: V1.Crate.self, migrationPlan: Plan.self) }"),
    Trap(
      "a version by way of a protocol",
      change("", "var size: Int").replacing("enum V2: VersionedSchema", with: "enum V2: Base")
        .replacing("SchemaMigrationPlan {", with: "SchemaMigrationPlan { // note: uncertain")
        + "protocol Base: VersionedSchema {}"),
    Trap(
      "a last version by way of a protocol",
      label
        + schema("V1", "1, 0, 0", crate(), models: "Crate.self, Label.self")
        + schema("V2", "2, 0, 0", crate("var size = 0"), models: "Crate.self, Label.self")
        + plan("V1.self, V2.self, V3.self", "", comment: "// note: uncertain")
        + "protocol Base: VersionedSchema {}\nenum V3: Base { static let versionIdentifier = Schema.Version(3, 0, 0)\n"
        + "static let models: [any PersistentModel.Type] = [V2.Crate.self] }"),
  ]

  @Test(arguments: unknown)
  func `what rests on a list that isn't known is not told`(_ trap: Trap) { check(trap) }

  @Test func `nothing is called missing while a file can't be read`() {
    for text in [Self.plans.first { $0.testDescription == "a schema outside the plan" }?.fault, Self.bare] {
      var source = SwiftDataSource()
      source.add(Array((text ?? "").utf8), path: "App.swift")
      #expect(SwiftDataReview(SwiftDataSchemas(source)).findings.count == 1)
      source.add(Array("enum V9 {".utf8), path: "Broken.swift")
      #expect(SwiftDataReview(SwiftDataSchemas(source)).findings.isEmpty)
    }
  }

  private static let bare = crate() + "\nfunc f() throws { _ = try ModelContainer(for: Crate.self) }"

  @Test func `findings of two plans with the same versions are told once, errors first`() {
    let text = Self.change("var size = 0", "var id: Int // error: missingDefault\n@Attribute(.unique) var size = 0")
    let twice = text + Self.plan("V1.self, V2.self", Self.lightweight).replacing("Plan:", with: "Other:")
    #expect(Self.review(twice).map(\.rule) == [.missingDefault, .newConstraint])
  }

  @Test(arguments: plans)
  func `a plan's order, numbers, stages and checksums are reviewed`(_ trap: Trap) { check(trap) }

  static let containers: [Trap] = [
    Trap(
      "a container of an older version",
      good
        + "func f() throws { _ = try ModelContainer(for: Schema(versionedSchema: V1.self), migrationPlan: Plan.self) "
        + "} // error: containerSchema",
      mends: good
        + "func f() throws { _ = try ModelContainer(for: Schema(versionedSchema: V2.self), migrationPlan: Plan.self) }",
      // Without a plan a container may open what it likes.
      good + "func f() throws { _ = try ModelContainer(for: Schema(versionedSchema: V1.self)) }"),
    Trap(
      "a schema in a variable",
      good + "func f() throws { let schema = Schema(versionedSchema: V1.self)\n"
        + "_ = try ModelContainer(for: schema, migrationPlan: Plan.self) } // error: containerSchema",
      mends: good
        + "typealias Latest = V2\nfunc f() throws { let schema: Schema = Schema(versionedSchema: Latest.self)\n"
        + "_ = try ModelContainer(for: schema, migrationPlan: Plan.self) }",
      good + "func f() throws { let schema = Schema(versionedSchema: V1.self)\n_ = schema }\n"
        + "func g() throws { let schema = make()\n_ = try ModelContainer(for: schema, migrationPlan: Plan.self) }",
      good + "func f(_ schema: Schema) throws { _ = try ModelContainer(for: schema, migrationPlan: Plan.self) }"),
    Trap(
      "classes that aren't certain",
      change("", "var size: Measured? // note: uncertain")
        + "func f() throws { _ = try ModelContainer(for: V1.Crate.self, migrationPlan: Plan.self) }",
      mends: good),
    Trap(
      "a container of other classes",
      good + "func f() throws { _ = try ModelContainer(for: V1.Crate.self, migrationPlan: Plan.self) "
        + "} // error: containerSchema",
      mends: good + "func f() throws { _ = try ModelContainer(for: V2.Crate.self, migrationPlan: Plan.self) }",
      good + "func f() throws { _ = try ModelContainer(for: Schema(V2.models), migrationPlan: Plan.self) }",
      good + "func f() throws { _ = try ModelContainer(for: Schema([V2.Crate.self]), migrationPlan: Plan.self) }"),
  ]

  @Test(arguments: containers)
  func `a container with a plan opens its last version`(_ trap: Trap) { check(trap) }

  // MARK: - Frozen types

  static func labelled(_ label: String) -> String { crate("var label: Label? \(label)") }

  static let label = "@Model final class Label { var text = \"\"; init() {} }\n"

  static let live: [Trap] = [
    Trap(
      "a frozen class leads to a live one",
      label + schema("V1", "1, 0, 0", labelled("// error: liveType"))
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0")) + plan("V1.self, V2.self", lightweight),
      mends: label + schema("V1", "1, 0, 0", labelled("") + "\n" + label)
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0")) + plan("V1.self, V2.self", lightweight),
      // A newer schema may use the type of an older one.
      schema("V1", "1, 0, 0", labelled("") + "\n" + label)
        + schema("V2", "2, 0, 0", crate("var label: V1.Label?; var size = 0")) + plan("V1.self, V2.self", lightweight),
      schema("V1", "1, 0, 0", labelled("") + "\n" + label)
        + schema("V2", "2, 0, 0", crate("var label: V1.Label?; var size = 0"))
        + schema("V3", "3, 0, 0", crate("var label: V1.Label?; var size = 0.5"))
        + plan("V1.self, V2.self, V3.self", ""),
      // What the newest version doesn't have isn't live.
      label + schema("V1", "1, 0, 0", labelled(""))
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0") + "\n" + label)
        + plan("V1.self, V2.self", lightweight)),
    Trap(
      "a version shares a class with the newest one",
      label + schema("V1", "1, 0, 0", crate(), models: "Crate.self, Label.self", comment: "// warning: liveType")
        + schema("V2", "2, 0, 0", crate("var size = 0"), models: "Crate.self, Label.self")
        + plan("V1.self, V2.self", lightweight),
      mends: schema("V1", "1, 0, 0", crate() + "\n" + label, models: "Crate.self, Label.self")
        + schema("V2", "2, 0, 0", crate("var size = 0"), models: "Crate.self, V1.Label.self")
        + plan("V1.self, V2.self", lightweight)),
    Trap(
      "a frozen class leads to a live one that its version lists",
      label
        + schema("V1", "1, 0, 0", labelled(""), models: "Crate.self, Label.self", comment: "// warning: liveType")
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0")) + plan("V1.self, V2.self", lightweight),
      mends: label + schema("V1", "1, 0, 0", labelled("") + "\n" + label, models: "Crate.self, Label.self")
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0")) + plan("V1.self, V2.self", lightweight)),
    Trap(
      "a version uses a type of a newer one",
      schema("V1", "1, 0, 0", crate("var label: V2.Label? // error: liveType"))
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0") + "\n" + label)
        + plan("V1.self, V2.self", lightweight),
      mends: schema("V1", "1, 0, 0", labelled("") + "\n" + label)
        + schema("V2", "2, 0, 0", crate("var label: Label?; var size = 0") + "\n" + label)
        + plan("V1.self, V2.self", lightweight)),
    Trap(
      "versions share a structure",
      "struct Size: Codable { var width = 0 }\n"
        + schema("V1", "1, 0, 0", crate("var size = Size()"), comment: "// warning: liveType")
        + schema("V2", "2, 0, 0", crate("var size = Size(); var note = \"\"")) + plan("V1.self, V2.self", lightweight),
      mends: "struct Size: Codable { var width = 0 }\n"
        + schema("V1", "1, 0, 0", crate("var size = Size()") + "\nstruct Size: Codable { var width = 0 }")
        + schema("V2", "2, 0, 0", crate("var size = Size(); var note = \"\"")) + plan("V1.self, V2.self", lightweight),
      // A new case of an enumeration with raw values changes no hash.
      "enum Size: String, Codable { case small, large }\n"
        + schema("V1", "1, 0, 0", crate("var size: Size = Size.small"))
        + schema("V2", "2, 0, 0", crate("var size: Size = Size.small; var note = \"\""))
        + plan("V1.self, V2.self", lightweight)),
    Trap(
      "freezing renamed several entities",
      "@Model final class FontV1 { var name = \"\"; var size = 0; @Relationship(inverse: \\GlyphV1.font) "
        + "var glyphs: [GlyphV1] = [] } // error: lostEntity\n"
        + "@Model final class GlyphV1 { var code = 0; var font: FontV1? } // error: lostEntity\n"
        + schema(
          "V1", "1, 0, 0",
          "@Model final class Font { var name = \"\"; @Relationship(inverse: \\Glyph.font) var glyphs: [Glyph] = [] }\n"
            + "@Model final class Glyph { var code = 0; var font: Font? }", models: "Font.self")
        + schema("V2", "2, 0, 0", "", models: "FontV1.self") + plan("V1.self, V2.self", lightweight),
      mends: "@Model final class Font { var name = \"\"; var size = 0; @Relationship(inverse: \\Glyph.font) "
        + "var glyphs: [Glyph] = [] }\n@Model final class Glyph { var code = 0; var font: Font? }\n"
        + schema(
          "V1", "1, 0, 0",
          "@Model final class Font { var name = \"\"; @Relationship(inverse: \\Glyph.font) var glyphs: [Glyph] = [] }\n"
            + "@Model final class Glyph { var code = 0; var font: Font? }", models: "Font.self")
        + schema("V2", "2, 0, 0", "", models: "Font.self") + plan("V1.self, V2.self", lightweight)),
    Trap(
      "the live graph comes along",
      "@Model final class Crate { var code = \"\"; var size = 0; var label: Label? } // error: sharedClassName\n"
        + "@Model final class Label { @Relationship(inverse: \\Crate.label) var crates: [Crate] = [] }\n"
        + schema("V1", "1, 0, 0", labelled("// error: liveType")) + schema("V2", "2, 0, 0", "")
        + plan("V1.self, V2.self", lightweight),
      mends: "@Model final class Crate { var code = \"\"; var size = 0; var label: Label? }\n"
        + "@Model final class Label { @Relationship(inverse: \\Crate.label) var crates: [Crate] = [] }\n"
        + schema(
          "V1", "1, 0, 0",
          labelled("")
            + "\n@Model final class Label { @Relationship(inverse: \\Crate.label) var crates: [Crate] = [] }")
        + schema("V2", "2, 0, 0", "") + plan("V1.self, V2.self", lightweight)),
    Trap(
      "two classes of one name",
      "@Model final class Crate { var text = \"\" } // error: sharedClassName\n"
        + schema(
          "V1", "1, 0, 0", "@Model final class Box { var one: Crate? }\n" + crate(), models: "Box.self, Other.self")
        + "typealias Other = Crate",
      mends: "@Model final class Crate { var text = \"\" }\n"
        + schema("V1", "1, 0, 0", "@Model final class Box { var one: Crate? }\n" + crate(), models: "Box.self")
        + "typealias Other = Crate"),
    Trap(
      "freezing renamed the entity",
      "typealias Font = FontV1\n@Model final class FontV1 { var size = 0; var name = \"\"; var bold = false } "
        + "// error: lostEntity\n"
        + schema(
          "V1", "1, 0, 0", "@Model final class Font { var size = 0; var name = \"\" }", models: "Font.self")
        + schema("V2", "2, 0, 0", "", models: "Font.self") + plan("V1.self, V2.self", lightweight),
      mends: "typealias Font = FontV1\n@Model final class FontV1 { var size = 0; var name = \"\"; var bold = false }\n"
        + schema(
          "V1", "1, 0, 0", "@Model final class FontV1 { var size = 0; var name = \"\" }", models: "FontV1.self")
        + schema("V2", "2, 0, 0", "", models: "Font.self") + plan("V1.self, V2.self", lightweight),
      schema("V1", "1, 0, 0", "@Model final class Font { var size = 0; var name = \"\" }", models: "Font.self")
        + schema(
          "V2", "2, 0, 0", "@Model final class Page { var name = \"\"; var number = 0; var text = \"\" }",
          models: "Page.self") + plan("V1.self, V2.self", lightweight),
      // An entity that is really new, beside one that is really gone.
      schema("V1", "1, 0, 0", "@Model final class Font { var size = 0; var name = \"\" }", models: "Font.self")
        + schema("V2", "2, 0, 0", "@Model final class Page { var number = 0 }", models: "Page.self")
        + plan("V1.self, V2.self", lightweight)),
  ]

  @Test(arguments: live)
  func `what a version shares with today's app is found`(_ trap: Trap) { check(trap) }
}
